/** Removes a file from a vector store: that document alone. The file itself stays, also in other stores. */
import { lockDocumentsMadeOf } from "../../db/stores/user-files.ts";
import { inTenantContended } from "../../db/retry-deadlocks.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { type FileInStore, lockStoreFile } from "./file.ts";
import { removeDocuments } from "./remove-documents.ts";

/** @throws DomainError `not_found`, `permission_denied` */
export async function removeFile(
  deps: Pick<CommandDeps, "db" | "dispatcher">,
  caller: Caller,
  place: FileInStore,
): Promise<void> {
  const { principal } = caller;
  const { organization } = principal;
  await inTenantContended(deps.db, organization, async (sql) => {
    const file = await lockStoreFile(sql, principal, "documents:delete", place);
    const made = file.came_through ? await lockDocumentsMadeOf(sql, [file.space_id], file.id) : [];
    const one = made.find(({ id }) => id === file.document_id);
    await removeDocuments(sql, caller, [
      one ?? { id: file.document_id, space_id: file.space_id, folder_id: file.folder_id, raw_file_id: null },
    ]);
  });
  deps.dispatcher.wakeDeletions(organization.id);
}
