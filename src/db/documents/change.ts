/** All SQL that changes a document as its caller asks: its metadata and its folder. */
import type { Sql } from "../pool.ts";

/** Returns the metadata that callers wrote, without what the service adds when it shows the document. */
export async function readOwnMetadata(sql: Sql, id: string): Promise<Record<string, unknown>> {
  const { rows } = await sql.query<{ metadata: Record<string, unknown> }>(
    `select metadata
     from documents
     where id = $1`,
    [id],
  );
  return rows[0]?.metadata ?? {};
}

/** Replaces the metadata that callers wrote. `updated_at` always increases: the ETag is made of it. */
export async function writeOwnMetadata(
  sql: Sql,
  id: string,
  metadata: Record<string, unknown>,
): Promise<void> {
  await sql.query(
    `update documents
     set metadata = $2,
         updated_at = greatest(now(), updated_at + interval '1 millisecond')
     where id = $1`,
    [id, JSON.stringify(metadata)],
  );
}

/** Moves the documents to the root of their spaces (null), or into a folder that the caller has locked. */
export async function moveDocuments(
  sql: Sql,
  ids: readonly string[],
  folderId: string | null,
): Promise<void> {
  await sql.query(
    `update documents
     set folder_id = $2,
         updated_at = greatest(now(), updated_at + interval '1 millisecond')
     where id = any($1::uuid[])`,
    [ids, folderId],
  );
}
