/** What a deletion will take along, before it is asked for. */
import { authorize } from "../../../auth/policy.ts";
import { authorizeFolder } from "../../../commands/folders/folder.ts";
import { authorizeManaging } from "../../../commands/spaces/space.ts";
import { countDeletion } from "../../../db/deletions/counts.ts";
import { findFolder } from "../../../db/documents/folders.ts";
import { findDocument } from "../../../db/documents/read.ts";
import { findSpaceOfOrganization } from "../../../db/tenancy/spaces.ts";
import { Deletion } from "../../../schema/deletion.ts";
import { defineRoute } from "../../route.ts";

const shared = { method: "GET", response: Deletion } as const;

const HOW =
  "For those who may delete it. Counts what the deletion would take at this moment, and changes nothing.";

const getDeletionOfFolder = defineRoute({
  ...shared,
  path: "/folders/:folder_id/deletion",
  operation: "folders.deletion.get",
  access: "keys",
  capability: "write",
  audit: { action: "folders:read", resource: "folder" },
  summary: "What deleting a folder would delete.",
  description: HOW,
  handle: ({ principal, read, params }) =>
    read(async (sql) => {
      const folder = await findFolder(sql, principal.reach, params.folder_id);
      authorizeFolder(principal, "folders:write", folder);
      return countDeletion(sql, {
        organizationId: principal.organization.id,
        kind: "folder",
        ids: [folder.id],
      });
    }),
});

const getDeletionOfSpace = defineRoute({
  ...shared,
  path: "/spaces/:space_id/deletion",
  operation: "spaces.deletion.get",
  access: "jwt",
  audit: { action: "spaces:read", resource: "space" },
  summary: "What deleting a space would delete.",
  description: HOW,
  handle: ({ principal, read, params }) =>
    read(async (sql) => {
      const space = await findSpaceOfOrganization(sql, principal.organization.id, params.space_id);
      authorizeManaging(principal, space);
      return countDeletion(sql, {
        organizationId: principal.organization.id,
        kind: "space",
        ids: [space.id],
      });
    }),
});

const getDeletionOfDocument = defineRoute({
  ...shared,
  path: "/data/:document_id/deletion",
  operation: "documents.deletion.get",
  access: "keys",
  capability: "write",
  audit: { action: "documents:read", resource: "document" },
  summary: "What deleting a document would delete.",
  description: HOW,
  handle: ({ principal, read, params }) =>
    read(async (sql) => {
      const document = await findDocument(sql, principal, params.document_id);
      authorize(principal, "documents:delete", document);
      return countDeletion(sql, {
        organizationId: principal.organization.id,
        kind: "document",
        ids: [document.id],
      });
    }),
});

export const deletionRoutes = [getDeletionOfFolder, getDeletionOfSpace, getDeletionOfDocument];
