/** All SQL by which a deletion's workflow deletes the rows of its target in bounded steps. */
import type { DeletionKind } from "./accept.ts";
import type { Sql } from "../pool.ts";
import { forgetHiddenRuns } from "../search/hidden.ts";

export interface Deletion {
  readonly id: string;
  readonly kind: DeletionKind;
  readonly target_id: string;
}

/** Returns the deletion unless it is complete. */
export async function findDeletion(sql: Sql, id: string): Promise<Deletion | undefined> {
  const { rows } = await sql.query<Deletion>(
    `select id, kind, target_id
     from deletions
     where id = $1
       and completed_at is null`,
    [id],
  );
  return rows[0];
}

/** Returns all runs of the document, by the numbers that chunks and search entries carry. */
export async function runsOf(
  sql: Sql,
  documentId: string,
): Promise<Array<{ num: number; space_num: number }>> {
  const { rows } = await sql.query<{ num: number; space_num: number }>(
    `select num, space_num
     from pipeline_runs
     where document_id = $1
     order by num`,
    [documentId],
  );
  return rows;
}

/** Neither a user's file nor a run of a document other than `$1` has the object. */
const isUnshared = (object: string): string => `not exists (
         select
         from openai_files held
         where held.object_key = ${object}
       )
       and not exists (
         select
         from pipeline_runs other
         where other.object_key = ${object}
           and other.document_id <> $1
           and not other.object_purged
       )`;

/**
 * Returns the names of the objects to delete with the document. A raw file that stays (`withRawFile` is
 * false), another document that shares the object, and a user's file keep it.
 */
export async function objectsOf(sql: Sql, documentId: string, withRawFile: boolean): Promise<string[]> {
  const { rows } = await sql.query<{ object_key: string }>(
    `select run.object_key
     from pipeline_runs run
     where run.document_id = $1
       and not exists (
         select
         from raw_files file
         where file.object_key = run.object_key
           and not ($2 and file.document_id = $1)
       )
       and ${isUnshared("run.object_key")}
     union
     select own.object_key
     from raw_files own
     where $2
       and own.document_id = $1
       and own.object_key is not null
       and not exists (
         select
         from raw_files file
         where file.object_key = own.object_key
           and file.document_id is distinct from $1
       )
       and ${isUnshared("own.object_key")}`,
    [documentId, withRawFile],
  );
  return rows.map((row) => row.object_key);
}

/**
 * Deletes at most `limit` chunks and as many text blocks of the run. Their cached embeddings count as used
 * until now, which delays their expiry.
 * @returns whether any may be left.
 */
export async function deleteText(sql: Sql, runNum: number, limit: number): Promise<boolean> {
  const chunks = await sql.query(
    `with deleted as (
       delete from chunks
       where run_num = $1
         and chunk_index in (
           select chunk_index
           from chunks
           where run_num = $1
           order by chunk_index
           limit $2
         )
       returning organization_id, chunk_index, content_hash
     ),
     used as (
       update embedding_cache cached
       set last_used_at = now()
       from (select distinct organization_id, content_hash from deleted) content
       cross join embedding_models model
       where cached.organization_id = content.organization_id
         and cached.model_num = model.num
         and cached.content_hash = content.content_hash
         and cached.last_used_at < now() - interval '1 day'
     )
     select chunk_index
     from deleted`,
    [runNum, limit],
  );
  const blocks = await sql.query(
    `delete from text_blocks
     where run_num = $1
       and first_index in (
         select first_index
         from text_blocks
         where run_num = $1
         order by first_index
         limit $2
       )`,
    [runNum, limit],
  );
  return (chunks.rowCount ?? 0) >= limit || (blocks.rowCount ?? 0) >= limit;
}

/** Removes the files' references to cached embeddings, and embeddings that no other file refers to. */
async function forgetEmbeddings(
  sql: Sql,
  organizationId: string,
  rawFileIds: readonly string[],
): Promise<void> {
  await sql.query(
    `with forgotten as (
       delete from embedding_cache_references
       where raw_file_id = any($2::uuid[])
       returning content_hash
     )
     delete from embedding_cache cached
     where cached.organization_id = $1
       and cached.content_hash in (select content_hash from forgotten)
       and not exists (
         select
         from embedding_cache_references other
         where other.organization_id = $1
           and other.content_hash = cached.content_hash
           and other.raw_file_id <> all($2::uuid[])
       )`,
    [organizationId, rawFileIds],
  );
}

/** Deletes the document's rows, after its embeddings, text and objects. Postings stay until a purge. */
export async function deleteDocumentRows(
  sql: Sql,
  organizationId: string,
  documentId: string,
  withRawFile: boolean,
): Promise<void> {
  if (withRawFile) {
    const { rows } = await sql.query<{ id: string }>(
      `select id
       from raw_files
       where document_id = $1`,
      [documentId],
    );
    await forgetEmbeddings(
      sql,
      organizationId,
      rows.map((row) => row.id),
    );
    await sql.query("delete from raw_files where document_id = $1", [documentId]);
  }
  const runs = await runsOf(sql, documentId);
  await forgetHiddenRuns(
    sql,
    runs.map((run) => run.num),
  );
  await sql.query("delete from pipeline_runs where document_id = $1", [documentId]);
  await sql.query(
    `delete from documents
     where id = $1
       and deleted_at is not null`,
    [documentId],
  );
}

/** Deletes raw files with their references to cached embeddings. Call it after their objects are deleted. */
export async function deleteFileRows(
  sql: Sql,
  organizationId: string,
  ids: readonly string[],
): Promise<void> {
  await forgetEmbeddings(sql, organizationId, ids);
  await sql.query("delete from raw_files where id = any($1::uuid[])", [ids]);
}

/** Deletes the rows of the folders, or what is left of the space, after their contents are deleted. */
export async function deleteContainers(sql: Sql, deletion: Deletion): Promise<void> {
  if (deletion.kind === "folder") {
    await sql.query(
      `with recursive tree as (
         select $1::uuid as id
         union all
         select child.id
         from folders child
         join tree on tree.id = child.parent_folder_id
       )
       delete from folders
       where id in (select id from tree)`,
      [deletion.target_id],
    );
  }
  if (deletion.kind !== "space") return;
  await sql.query("delete from agents where space_id = $1", [deletion.target_id]);
  await sql.query("delete from folders where space_id = $1", [deletion.target_id]);
  await sql.query("delete from space_members where space_id = $1", [deletion.target_id]);
  await sql.query("delete from api_key_spaces where space_id = $1", [deletion.target_id]);
  await sql.query(
    `delete from language_fits
     where space_num = (select num from spaces where id = $1)`,
    [deletion.target_id],
  );
}

export async function completeDeletion(sql: Sql, id: string): Promise<void> {
  await sql.query(
    `update deletions
     set completed_at = now()
     where id = $1`,
    [id],
  );
}
