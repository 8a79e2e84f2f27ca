/** All SQL by which maintenance finds and deletes what is not needed any more, part by part. */
import { KEPT_RUNS, ROWS_A_PURGE } from "../../domain/work/maintenance-rounds.ts";
import type { Sql } from "../pool.ts";
import { deleteText } from "../deletions/purge.ts";
import { deleteEmbeddings } from "../search/write-embeddings.ts";
import { forgetHiddenRuns } from "../search/hidden.ts";
import { foldStatistics } from "../search/index/statistics.ts";

export interface RunOfSpace {
  readonly run_num: number;
  readonly space_num: number;
}

/**
 * Returns hidden runs that will never be served (superseded, not published, or of deleted documents) and
 * whose postings are purged already. A run that ended less than two minutes ago may still be in use by an
 * activity that has not noticed.
 */
export async function findHiddenRuns(sql: Sql, limit: number): Promise<RunOfSpace[]> {
  const { rows } = await sql.query<RunOfSpace>(
    `select hidden.run_num, hidden.space_num
     from hidden_runs hidden
     left join pipeline_runs run on run.num = hidden.run_num
     left join documents document on document.id = run.document_id
     where (
         run.num is null
         or (
           run.status in ('completed', 'failed', 'cancelled')
           and run.completed_at < now() - interval '2 minutes'
           and (
             document.id is null
             or document.deleted_at is null and document.published_run_num is distinct from hidden.run_num
           )
         )
       )
       and not exists (
         select
         from posting_runs part
         where part.run_num = hidden.run_num
       )
     order by hidden.run_num
     limit $1`,
    [limit],
  );
  return rows;
}

/** Deletes a part of the hidden run's embeddings, at last its mark. @returns whether more is left. */
export async function purgeHiddenRun(sql: Sql, run: RunOfSpace): Promise<boolean> {
  const { isPublished } = await lockDocumentOfRun(sql, run.run_num);
  if (isPublished) return false;
  if (await deleteEmbeddings(sql, { spaceNum: run.space_num, runNum: run.run_num, limit: ROWS_A_PURGE }))
    return true;
  await forgetHiddenRuns(sql, [run.run_num]);
  return false;
}

/** Locks the run's document, so that nothing is published or restored meanwhile. */
async function lockDocumentOfRun(sql: Sql, runNum: number): Promise<{ readonly isPublished: boolean }> {
  const { rows } = await sql.query<{ is_published: boolean }>(
    `select coalesce(document.published_run_num = run.num, false) as is_published
     from documents document
     join pipeline_runs run on run.document_id = document.id
     where run.num = $1
     for update of document`,
    [runNum],
  );
  return { isPublished: rows[0]?.is_published ?? false };
}

/**
 * The text of pipeline_runs `run` is not needed any more. A document keeps the text of two versions: the
 * published one and, for restore, the newest other completed one. Shared by finding and purging.
 */
const IS_SPENT = `run.status in ('completed', 'failed', 'cancelled')
       and run.completed_at < now() - interval '2 minutes'
       and not run.text_purged
       and document.deleted_at is null
       and run.num is distinct from document.published_run_num
       and not (run.status = 'completed' and run.num = (
         select max(other.num)
         from pipeline_runs other
         where other.document_id = run.document_id
           and other.status = 'completed'
           and other.num is distinct from document.published_run_num
       ))`;

/** Returns ended runs whose text is not needed: versions before the restorable one, failed, cancelled. */
export async function findSpentRuns(sql: Sql, limit: number): Promise<RunOfSpace[]> {
  const { rows } = await sql.query<RunOfSpace>(
    `select run.num as run_num, run.space_num
     from pipeline_runs run
     join documents document on document.id = run.document_id
     where ${IS_SPENT}
     order by run.num
     limit $1`,
    [limit],
  );
  return rows;
}

/** Deletes a part of the spent run's embeddings, text and chunks. @returns whether there is more to do. */
export async function purgeSpentRun(sql: Sql, run: RunOfSpace): Promise<boolean> {
  await lockDocumentOfRun(sql, run.run_num);
  const { rowCount } = await sql.query(
    `select
     from pipeline_runs run
     join documents document on document.id = run.document_id
     where run.num = $1
       and ${IS_SPENT}`,
    [run.run_num],
  );
  if (rowCount === 0) return false;
  if (await deleteEmbeddings(sql, { spaceNum: run.space_num, runNum: run.run_num, limit: ROWS_A_PURGE }))
    return true;
  if (await deleteText(sql, run.run_num, ROWS_A_PURGE)) return true;
  await forgetHiddenRuns(sql, [run.run_num]);
  await sql.query(
    `update pipeline_runs
     set text_purged = true
     where num = $1`,
    [run.run_num],
  );
  return false;
}

/** Returns objects of purged runs that no raw file, run with text, or document's latest run refers to. */
export async function findSpentObjects(sql: Sql, limit: number): Promise<string[]> {
  const { rows } = await sql.query<{ object_key: string }>(
    `select distinct run.object_key
     from pipeline_runs run
     where run.text_purged
       and not run.object_purged
       and not exists (
         select
         from raw_files file
         where file.object_key = run.object_key
       )
       and not exists (
         select
         from openai_files held
         where held.object_key = run.object_key
       )
       and not exists (
         select
         from pipeline_runs other
         left join documents document on document.latest_run_num = other.num
         where other.object_key = run.object_key
           and (not other.text_purged or document.id is not null)
       )
     limit $1`,
    [limit],
  );
  return rows.map((row) => row.object_key);
}

/** Notes that the objects are deleted from the store. */
export async function markObjectsPurged(sql: Sql, objectKeys: readonly string[]): Promise<void> {
  await sql.query(
    `update pipeline_runs
     set object_purged = true
     where object_key = any($1::text[])`,
    [objectKeys],
  );
}

/** Deletes at most `limit` empty runs before their document's last {@link KEPT_RUNS}. @returns how many. */
export async function deleteOldRuns(sql: Sql, limit: number): Promise<number> {
  const { rowCount } = await sql.query(
    `delete from pipeline_runs
     where id in (
       select run.id
       from documents document
       join pipeline_runs run on run.document_id = document.id
       where document.run_count > ${KEPT_RUNS}
         and run.version <= document.run_count - ${KEPT_RUNS}
         and run.text_purged
         and (
           run.object_purged
           or exists (
             select
             from raw_files file
             where file.object_key = run.object_key
           )
           or exists (
             select
             from openai_files held
             where held.object_key = run.object_key
           )
           or exists (
             select
             from pipeline_runs other
             where other.object_key = run.object_key
               and not other.text_purged
           )
         )
       limit $1
     )`,
    [limit],
  );
  return rowCount ?? 0;
}

/**
 * Checks at most `limit` cached embeddings that were not used for 90 days: deletes those whose text no chunk
 * has any more, and notes that the others are in use.
 * @returns how many it checked (`seen`), and how many it deleted.
 */
export async function deleteUnusedEmbeddings(
  sql: Sql,
  organizationId: string,
  limit: number,
): Promise<{ seen: number; deleted: number }> {
  const { rows } = await sql.query<{ seen: number; deleted: number }>(
    `with old as materialized (
       select model_num, content_hash
       from embedding_cache
       where organization_id = $1
         and last_used_at < now() - interval '90 days'
       limit $2
     ),
     used as materialized (
       select distinct content_hash
       from chunks
       where organization_id = $1
         and content_hash in (select content_hash from old)
     ),
     kept as (
       update embedding_cache cached
       set last_used_at = now()
       from old
       where cached.organization_id = $1
         and cached.model_num = old.model_num
         and cached.content_hash = old.content_hash
         and old.content_hash in (select content_hash from used)
     ),
     deleted as (
       delete from embedding_cache cached
       using old
       where cached.organization_id = $1
         and cached.model_num = old.model_num
         and cached.content_hash = old.content_hash
         and old.content_hash not in (select content_hash from used)
       returning 1
     )
     select (select count(*) from old)::int as seen,
            (select count(*) from deleted)::int as deleted`,
    [organizationId, limit],
  );
  return rows[0]!;
}

/** Rows of a space's statistics from which on they are folded. */
const MANY_ROWS = 16;

/** Folds the statistics of each space that has gathered many rows. @returns of how many spaces. */
export async function foldAllStatistics(sql: Sql, organizationNum: number): Promise<number> {
  const { rows } = await sql.query<{ space_num: number }>(
    `select space_num
     from space_statistics
     group by space_num
     having count(*) >= $1`,
    [MANY_ROWS],
  );
  for (const { space_num } of rows) await foldStatistics(sql, organizationNum, space_num);
  return rows.length;
}
