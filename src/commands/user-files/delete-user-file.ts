/** Deletes a user's file, and the documents that were made of it where the user may delete them. */
import { authorize, reachFor } from "../../auth/policy.ts";
import { findDocumentOfFile } from "../../db/stores/files.ts";
import {
  deleteUserFile as removeUserFile,
  lockDocumentsMadeOf,
  findUserFile,
} from "../../db/stores/user-files.ts";
import type { Sql } from "../../db/pool.ts";
import { inTenantContended } from "../../db/retry-deadlocks.ts";
import { DomainError } from "../../domain/errors.ts";
import { notFound } from "../../domain/not-found.ts";
import { reachedSpaceIds } from "../../domain/tenancy/principal.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { removeDocuments } from "../vector-stores/remove-documents.ts";
import { authorizeUserFiles } from "./user-file.ts";

/**
 * Documents in spaces where the user may not delete stay, and with them the stored object. A document's own
 * id deletes that document.
 * @throws DomainError `not_found`, also for a document out of reach; `permission_denied` for a document that
 * the caller may only read, and for somebody else's file that a document was made of
 */
export async function deleteUserFile(
  deps: Pick<CommandDeps, "db" | "dispatcher">,
  caller: Caller,
  id: string,
): Promise<void> {
  const { principal } = caller;
  const { organization } = principal;
  authorizeUserFiles(principal, "user_files:delete");
  await inTenantContended(deps.db, organization, async (sql) => {
    const file = await findUserFile(sql, principal, id, { lock: true });
    if (file === undefined) return deleteDocumentAsFile(sql, caller, id);
    const writable = reachedSpaceIds(reachFor(principal, "documents:delete"));
    await removeDocuments(sql, caller, await lockDocumentsMadeOf(sql, writable, id));
    await removeUserFile(sql, organization.id, id);
    await recordChange(sql, caller, "user_files:delete", { type: "user_file", id, events: [] });
  });
  deps.dispatcher.wakeDeletions(organization.id);
}

async function deleteDocumentAsFile(sql: Sql, caller: Caller, id: string): Promise<void> {
  const { principal } = caller;
  const document = await findDocumentOfFile(sql, reachedSpaceIds(principal.reach), id);
  if (document === undefined) throw notFound("file");
  authorize(principal, "documents:delete", document, "file");
  if (document.id !== id)
    throw new DomainError("permission_denied", "Permission denied: files:delete of another user's file");
  await removeDocuments(sql, caller, [{ ...document, raw_file_id: null }]);
}
