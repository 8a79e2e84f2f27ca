/** The route that makes a path folder. */
import { createPathFolder } from "../../../commands/files/create-path-folder.ts";
import { PathFolder, PathFolderCreate } from "../../../schema/documents/raw-file.ts";
import { defineRoute } from "../../route.ts";

export const makePathFolder = defineRoute("POST /spaces/:space_id/data/folders", {
  operation: "files.create_folder",
  access: "jwt",
  audit: { action: "files:create", resource: "file" },
  status: 201,
  summary: "Create a path folder; integrations use /folders.",
  description:
    "For editors and owners of the space. Repeating it answers the same. A file at the path is 400. It " +
    "serves user interfaces that show empty folders; uploads need none, and integrations use " +
    "`/v1/folders`.",
  body: PathFolderCreate,
  response: PathFolder,
  handle: async ({ deps, caller, params, body }) =>
    createPathFolder(deps, caller, { spaceId: params.space_id, path: body.path }),
});
