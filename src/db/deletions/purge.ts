/** All SQL by which a deletion's workflow finds what is left of the thing, removes it in bounded steps, and reads back that nothing is. */
import { type DeletionKind, hideDocuments } from "./accept.ts";
import type { Sql } from "../pool.ts";
import { forgetHiddenRuns } from "../search/hidden.ts";

export interface Deletion {
  readonly id: string;
  readonly kind: DeletionKind;
  readonly target_id: string;
}

export async function findDeletion(sql: Sql, id: string): Promise<Deletion | undefined> {
  return (
    await sql.query<Deletion>(
      "select id, kind, target_id from deletions where id = $1 and completed_at is null",
      [id],
    )
  ).rows[0];
}

/** Documents that belong to the deletion's target, as `d`, with the target as `$1`. */
const DOCUMENTS_OF: Record<DeletionKind, string> = {
  document: "d.id = $1",
  raw_file: "d.id = (select document_id from raw_files where id = $1)",
  folder:
    "d.folder_id in (with recursive tree as (select $1::uuid as id union all select f.id from folders f join tree on f.parent_folder_id = tree.id) select id from tree)",
  space: "d.space_id = $1",
};

/** Ids of at most `limit` documents of the target that still have a row; those that nobody marked yet are marked. */
export async function takeDocuments(
  sql: Sql,
  organizationNum: number,
  deletion: Deletion,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql.query<{ id: string; deleted_at: Date | null }>(
    `select d.id, d.deleted_at from documents d where ${DOCUMENTS_OF[deletion.kind]} order by d.id limit $2`,
    [deletion.target_id, limit],
  );
  const unmarked = rows.filter((row) => row.deleted_at === null).map((row) => row.id);
  if (unmarked.length > 0) await hideDocuments(sql, organizationNum, unmarked);
  return rows.map((row) => row.id);
}

/** Runs of a document that left chunks or search entries behind. */
export async function runsOf(
  sql: Sql,
  documentId: string,
): Promise<Array<{ num: number; space_num: number }>> {
  return (
    await sql.query<{ num: number; space_num: number }>(
      "select num, space_num from pipeline_runs where document_id = $1 order by num",
      [documentId],
    )
  ).rows;
}

/** Objects that only this document's runs and file name; a raw file that stays keeps its object. */
export async function objectsOf(sql: Sql, documentId: string, withRawFile: boolean): Promise<string[]> {
  const { rows } = await sql.query<{ object_key: string }>(
    `select object_key from pipeline_runs r where r.document_id = $1 and not exists (
       select from raw_files f where f.object_key = r.object_key and not ($2 and f.document_id = $1))
     union select object_key from raw_files where $2 and document_id = $1 and object_key is not null`,
    [documentId, withRawFile],
  );
  return rows.map((row) => row.object_key);
}

/**
 * Deletes at most `limit` chunks and text blocks of the run. Cached embeddings of the chunks were in use until now: that is noted.
 * @returns whether any are left.
 */
export async function deleteText(sql: Sql, runNum: number, limit: number): Promise<boolean> {
  const chunks = await sql.query(
    `with gone as (
       delete from chunks where run_num = $1 and chunk_index in (select chunk_index from chunks where run_num = $1 order by chunk_index limit $2)
       returning organization_id, chunk_index, content_hash),
     used as (
       update embedding_cache e set last_used_at = now() from (select distinct organization_id, content_hash from gone) g cross join embedding_models m
       where e.organization_id = g.organization_id and e.model_num = m.num and e.content_hash = g.content_hash and e.last_used_at < now() - interval '1 day')
     select chunk_index from gone`,
    [runNum, limit],
  );
  const blocks = await sql.query(
    "delete from text_blocks where run_num = $1 and first_index in (select first_index from text_blocks where run_num = $1 order by first_index limit $2)",
    [runNum, limit],
  );
  return (chunks.rowCount ?? 0) >= limit || (blocks.rowCount ?? 0) >= limit;
}

/** Removes the raw file's references to cached embeddings, and the entries that no other file of the organization refers to. */
async function forgetEmbeddings(
  sql: Sql,
  organizationId: string,
  rawFileIds: readonly string[],
): Promise<void> {
  await sql.query(
    `with gone as (delete from embedding_cache_references where raw_file_id = any($2::uuid[]) returning content_hash)
     delete from embedding_cache e where e.organization_id = $1 and e.content_hash in (select content_hash from gone)
       and not exists (select from embedding_cache_references r where r.organization_id = $1 and r.content_hash = e.content_hash and r.raw_file_id <> all($2::uuid[]))`,
    [organizationId, rawFileIds],
  );
}

/** The document's rows, once its embeddings, text and objects are gone. Its postings stay hidden until their segments are purged. */
export async function deleteDocumentRows(
  sql: Sql,
  organizationId: string,
  documentId: string,
  withRawFile: boolean,
): Promise<void> {
  if (withRawFile) {
    const { rows } = await sql.query<{ id: string }>("select id from raw_files where document_id = $1", [
      documentId,
    ]);
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
  await sql.query("delete from documents where id = $1 and deleted_at is not null", [documentId]);
}

/** Raw files of the target that have no document: at most `limit`. */
export async function looseFiles(
  sql: Sql,
  deletion: Deletion,
  limit: number,
): Promise<Array<{ id: string; object_key: string | null }>> {
  const where = {
    document: "false",
    raw_file: "id = $1 and document_id is null",
    folder: "false",
    space: "space_id = $1 and document_id is null",
  }[deletion.kind];
  return (
    await sql.query<{ id: string; object_key: string | null }>(
      `select id, object_key from raw_files where ${where} and $1::uuid is not null limit $2`,
      [deletion.target_id, limit],
    )
  ).rows;
}

export async function deleteFileRows(
  sql: Sql,
  organizationId: string,
  ids: readonly string[],
): Promise<void> {
  await forgetEmbeddings(sql, organizationId, ids);
  await sql.query("delete from raw_files where id = any($1::uuid[])", [ids]);
}

/** Removes the folders or the space itself, once nothing is in them. */
export async function deleteContainers(sql: Sql, deletion: Deletion): Promise<void> {
  if (deletion.kind === "folder") {
    await sql.query(
      `with recursive tree as (select $1::uuid as id union all select f.id from folders f join tree on f.parent_folder_id = tree.id)
       delete from folders where id in (select id from tree)`,
      [deletion.target_id],
    );
  }
  if (deletion.kind !== "space") return;
  await sql.query("delete from agents where space_id = $1", [deletion.target_id]);
  await sql.query("delete from folders where space_id = $1", [deletion.target_id]);
  await sql.query("delete from space_members where space_id = $1", [deletion.target_id]);
  await sql.query("delete from api_key_spaces where space_id = $1", [deletion.target_id]);
}

/** How many rows of any kind are left of the target; a deletion is complete when it is 0. */
export async function countLeft(sql: Sql, deletion: Deletion): Promise<number> {
  const { rows } = await sql.query<{ left: number }>(
    `select ((select count(*) from documents d where ${DOCUMENTS_OF[deletion.kind]})
           + (select count(*) from raw_files f where ${{ document: "false", raw_file: "f.id = $1", folder: "false", space: "f.space_id = $1" }[deletion.kind]})
           + (select count(*) from folders f where ${{ document: "false", raw_file: "false", folder: "f.id = $1 or f.parent_folder_id = $1", space: "f.space_id = $1" }[deletion.kind]})
           + (select count(*) from chunks c where ${{ document: "c.document_id = $1", raw_file: "false", folder: "false", space: "false" }[deletion.kind]}))::int as left
     where $1::uuid is not null`,
    [deletion.target_id],
  );
  return rows[0]!.left;
}

export async function completeDeletion(sql: Sql, id: string): Promise<void> {
  await sql.query("update deletions set completed_at = now() where id = $1", [id]);
}
