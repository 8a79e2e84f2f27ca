/** What the commands of documents share: the lock on a document, and its entity tag. */
import { type Action, authorize } from "../../auth/policy.ts";
import { type DocumentRow, findDocument } from "../../db/documents/read.ts";
import type { Sql } from "../../db/pool.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { etagOf } from "../etag.ts";

export const documentEtag = (document: DocumentRow): string => etagOf(document.id, document.updated_at);

/**
 * Locks the document until the transaction ends, and reads it as it is then.
 * @throws DomainError `not_found` if there is none or the caller does not reach it, `permission_denied`
 */
export async function lockDocumentFor(
  sql: Sql,
  principal: Principal,
  action: Action,
  id: string,
): Promise<DocumentRow> {
  const document = await findDocument(sql, principal, id, { lock: true });
  authorize(principal, action, document);
  return document;
}
