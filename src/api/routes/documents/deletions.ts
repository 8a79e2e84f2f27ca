/** What a deletion will take along, before it is asked for. */
import { authorize } from "../../../auth/policy.ts";
import { authorizeFolder } from "../../../commands/folders/folder.ts";
import { authorizeManaging } from "../../../commands/spaces/space.ts";
import { type CountedKind, countDeletion } from "../../../db/deletions/counts.ts";
import { findFolder } from "../../../db/documents/folders.ts";
import { findDocument } from "../../../db/documents/read.ts";
import { findSpaceOfOrganization } from "../../../db/tenancy/spaces.ts";
import type { Sql } from "../../../db/sql.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import { Deletion } from "../../../schema/deletion.ts";
import { defineRoute } from "../../route.ts";

const HOW =
  "For those who may delete it. Counts what the deletion would take at this moment, and changes nothing.";

const counted = (sql: Sql, principal: Principal, kind: CountedKind, id: string) =>
  countDeletion(sql, { organizationId: principal.organization.id, kind, ids: [id] });

const getDeletionOfFolder = defineRoute("GET /folders/:folder_id/deletion", {
  response: Deletion,
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
      return counted(sql, principal, "folder", folder.id);
    }),
});

const getDeletionOfSpace = defineRoute("GET /spaces/:space_id/deletion", {
  response: Deletion,
  operation: "spaces.deletion.get",
  access: "jwt",
  audit: { action: "spaces:read", resource: "space" },
  summary: "What deleting a space would delete.",
  description: HOW,
  handle: ({ principal, read, params }) =>
    read(async (sql) => {
      const space = await findSpaceOfOrganization(sql, principal.organization.id, params.space_id);
      authorizeManaging(principal, space);
      return counted(sql, principal, "space", space.id);
    }),
});

const getDeletionOfDocument = defineRoute("GET /data/:document_id/deletion", {
  response: Deletion,
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
      return counted(sql, principal, "document", document.id);
    }),
});

export const deletionRoutes = [getDeletionOfFolder, getDeletionOfSpace, getDeletionOfDocument];
