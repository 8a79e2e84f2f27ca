/** Ends vector stores and users' files that have expired. What people put into folders themselves stays. */
import { appendAuditRowsIn, auditRow } from "../../db/audit/append.ts";
import { markRawFilesDeleted } from "../../db/deletions/accept.ts";
import type { OrganizationRef, Sql } from "../../db/pool.ts";
import {
  lockDocumentsOfExpired,
  lockExpiredDocuments,
  lockExpiredFile,
  lockExpiredStore,
  markStoreExpired,
} from "../../db/stores/expiry.ts";
import { deleteUserFile, type MadeDocument } from "../../db/stores/user-files.ts";

const DOCUMENTS_A_STEP = 500;

/** Deletes a part of what an expired store got by its routes. @returns how much; 0 if none has expired. */
export async function expireStores(sql: Sql, organization: OrganizationRef): Promise<number> {
  const folderId = await lockExpiredStore(sql);
  if (folderId === undefined) return 0;
  const documents = await lockExpiredDocuments(sql, folderId, DOCUMENTS_A_STEP);
  await deleteAll(sql, organization, documents);
  if (documents.length < DOCUMENTS_A_STEP) await markStoreExpired(sql, folderId);
  return Math.max(1, documents.length);
}

/**
 * Deletes a part of the documents that were made of an expired file, or the file. Documents that were made of
 * the file of a user who left stay.
 * @returns how much it did; 0 if no file has expired.
 */
export async function expireFiles(sql: Sql, organization: OrganizationRef): Promise<number> {
  const file = await lockExpiredFile(sql);
  if (file === undefined) return 0;
  const documents = file.takes_documents ? await lockDocumentsOfExpired(sql, file.id, DOCUMENTS_A_STEP) : [];
  await deleteAll(sql, organization, documents);
  if (documents.length < DOCUMENTS_A_STEP) {
    await deleteUserFile(sql, organization.id, file.id);
    await record(sql, organization, [
      { action: "user_files:delete", resource_type: "user_file", resource_id: file.id, space_id: null },
    ]);
  }
  return Math.max(1, documents.length);
}

async function deleteAll(
  sql: Sql,
  organization: OrganizationRef,
  documents: readonly MadeDocument[],
): Promise<void> {
  if (documents.length === 0) return;
  const targetIds = documents.flatMap((document) => document.raw_file_id ?? []);
  await markRawFilesDeleted(sql, { organization, userId: null, targetIds });
  await record(
    sql,
    organization,
    documents.map((document) => ({
      action: "documents:delete",
      resource_type: "document",
      resource_id: document.id,
      space_id: document.space_id,
      events: [{ type: "document.deleted" as const, data: { folder_id: document.folder_id } }],
    })),
  );
}

type Entry = Omit<Parameters<typeof auditRow>[1], "request_id" | "outcome">;

async function record(sql: Sql, organization: OrganizationRef, entries: readonly Entry[]): Promise<void> {
  const at = new Date();
  await appendAuditRowsIn(
    sql,
    entries.map((entry) =>
      auditRow(
        { authMethod: "system", organization },
        { ...entry, request_id: null, outcome: "success" },
        at,
      ),
    ),
  );
}
