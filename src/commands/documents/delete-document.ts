/** Deletes a document. Later requests see none of it; chunks and vectors are purged in the background. */
import { markDocumentsDeleted } from "../../db/deletions/accept.ts";
import { inTenantContended } from "../../db/retry-deadlocks.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { type IfUnchanged, requireUnchanged } from "../etag.ts";
import { recordChange } from "../record-change.ts";
import { documentEtag, lockDocumentFor } from "./document.ts";

/**
 * The raw file stays, and so do the cached vectors: uploading the same content again costs nothing.
 * @throws DomainError `not_found`, `permission_denied`, `precondition_failed`
 */
export async function deleteDocument(
  deps: Pick<CommandDeps, "db" | "dispatcher">,
  caller: Caller,
  { id, ifMatch }: IfUnchanged,
): Promise<void> {
  const { principal } = caller;
  const { organization, user } = principal;
  await inTenantContended(deps.db, organization, async (sql) => {
    const document = await lockDocumentFor(sql, principal, "documents:delete", id);
    requireUnchanged(ifMatch, documentEtag(document));
    await markDocumentsDeleted(sql, { organization, userId: user.id, targetIds: [id] });
    await recordChange(sql, caller, "documents:delete", {
      type: "document",
      id,
      spaceId: document.space_id,
      events: [{ type: "document.deleted", data: { folder_id: document.folder_id } }],
    });
  });
  deps.dispatcher.wakeDeletions(organization.id);
}
