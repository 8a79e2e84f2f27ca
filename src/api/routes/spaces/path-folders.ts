/** POST /spaces/{space_id}/data/folders. */
import { authorize } from "../../../auth/policy.ts";
import { appendAudit } from "../../../db/audit/append.ts";
import { createPathFolder } from "../../../db/files/folders.ts";
import { inTenant } from "../../../db/pool.ts";
import { SpaceParams } from "../../../schema/common.ts";
import { PathFolder, PathFolderCreate } from "../../../schema/documents/raw-file.ts";
import { defineRoute } from "../../route.ts";

export const makePathFolder = defineRoute({
  method: "POST",
  path: "/spaces/:space_id/data/folders",
  access: "jwt",
  audit: { action: "files:create", resource: "file" },
  status: 201,
  summary: "Make a path folder; integrations use /folders.",
  description: "Repeating it answers the same. A file at the path is 400.",
  tags: ["Raw files"],
  params: SpaceParams,
  body: PathFolderCreate,
  response: PathFolder,
  async handle({ deps, principal, params, body, request }) {
    authorize(principal, "files:create", { space_id: params.space_id });
    const { organization, user } = principal;
    await inTenant(deps.db, organization, async (sql) => {
      const { id, isNew } = await createPathFolder(sql, {
        organizationId: organization.id,
        spaceId: params.space_id,
        userId: user.id,
        path: body.path,
      });
      if (!isNew) return;
      await appendAudit(sql, principal, {
        action: "files:create",
        resource_type: "file",
        resource_id: id,
        space_id: params.space_id,
        request_id: request.id,
        outcome: "success",
      });
    });
    return { path: body.path };
  },
});
