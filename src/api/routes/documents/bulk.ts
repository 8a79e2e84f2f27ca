/** POST /data/batch-move and POST /data/batch-delete. */
import { authorizeListing } from "../../../auth/policy.ts";
import { deleteDocuments } from "../../../commands/documents/delete-documents.ts";
import { moveDocuments } from "../../../commands/documents/move-documents.ts";
import { BatchDelete, BatchMove, DeletedDocuments, MovedDocuments } from "../../../schema/documents/bulk.ts";
import { defineRoute } from "../../route.ts";

const CHOICE =
  "1–1,000 by their ids, or up to 10,000 that `filters` and `folder_ids` choose among those that the " +
  "caller may write. An id that is unknown or not writable is answered in `results` and stops no " +
  "other. All of it is one transaction; each document has its event and its row in the audit log.";

export const batchMove = defineRoute("POST /data/batch-move", {
  operation: "documents.batch_move",
  access: "keys",
  capability: "write",
  audit: { action: "documents:update", resource: "document" },
  summary: "Move many documents to a folder, or to the root of their spaces.",
  description:
    `For documents of spaces in which the caller is an editor or an owner: ${CHOICE} A document stays in ` +
    "its space: for one of another space than the folder's the result is `wrong_space`. One that is there " +
    "already counts as accepted and stays as it is.",
  body: BatchMove,
  response: MovedDocuments,
  errors: [404],
  async idempotent({ principal }) {
    authorizeListing(principal, "documents:update");
  },
  handle: ({ deps, caller, body }) =>
    moveDocuments(deps, caller, {
      documentIds: body.document_ids ?? null,
      filters: body.filters,
      folderIds: body.folder_ids ?? null,
      folderId: body.folder_id,
      dryRun: body.dry_run,
    }),
});

export const batchDelete = defineRoute("POST /data/batch-delete", {
  operation: "documents.batch_delete",
  access: "keys",
  capability: "write",
  audit: { action: "documents:delete", resource: "document" },
  status: 202,
  otherStatuses: { 200: "What would be deleted: the answer to `dry_run`" },
  summary: "Delete many documents, or first count what that would delete.",
  description:
    `For documents of spaces in which the caller is an editor or an owner: ${CHOICE} They are gone for every ` +
    "later request and search; what they take is freed in the background. As with the deletion of one " +
    "document, raw files stay.",
  body: BatchDelete,
  response: DeletedDocuments,
  async idempotent({ principal }) {
    authorizeListing(principal, "documents:delete");
  },
  handle({ deps, caller, body, reply }) {
    // Before the command, which keeps the status with the answer for repeats.
    if (body.dry_run) reply.status = 200;
    return deleteDocuments(deps, caller, {
      documentIds: body.document_ids ?? null,
      filters: body.filters,
      folderIds: body.folder_ids ?? null,
      dryRun: body.dry_run,
    });
  },
});
