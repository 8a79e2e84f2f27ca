/** Deletes documents as files of vector stores are deleted: with their raw files if they came that way. */
import { markDocumentsDeleted, markRawFilesDeleted } from "../../db/deletions/accept.ts";
import type { MadeDocument } from "../../db/stores/user-files.ts";
import type { Sql } from "../../db/pool.ts";
import type { Caller } from "../caller.ts";
import { recordChanges } from "../record-change.ts";

/**
 * Deletes a document's raw file with it, but keeps a file that people put there themselves, as every deletion
 * of a document does. The caller has locked the documents.
 */
export async function removeDocuments(
  sql: Sql,
  caller: Caller,
  documents: readonly Pick<MadeDocument, "id" | "space_id" | "folder_id" | "raw_file_id">[],
): Promise<void> {
  if (documents.length === 0) return;
  const { organization, user } = caller.principal;
  const accepted = { organization, userId: user.id };
  const rawFileIds = documents.flatMap((document) => document.raw_file_id ?? []);
  const withoutFile = documents.filter((document) => document.raw_file_id === null).map(({ id }) => id);
  if (rawFileIds.length > 0) await markRawFilesDeleted(sql, { ...accepted, targetIds: rawFileIds });
  if (withoutFile.length > 0) await markDocumentsDeleted(sql, { ...accepted, targetIds: withoutFile });
  await recordChanges(
    sql,
    caller,
    "documents:delete",
    documents.map(({ id, space_id: spaceId, folder_id: folderId }) => ({
      type: "document",
      id,
      spaceId,
      events: [{ type: "document.deleted" as const, data: { folder_id: folderId } }],
    })),
  );
}
