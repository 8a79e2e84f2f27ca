/** All SQL by which maintenance finds and removes what an organization does not need any more, a bounded part at a time. */
import { KEPT_RUNS, ROWS_A_PURGE } from "../../domain/work/maintenance.ts";
import type { Sql } from "../pool.ts";
import { deleteText } from "../deletions/purge.ts";
import { deleteEmbeddings } from "../search/embeddings.ts";
import { forgetHiddenRuns } from "../search/hidden.ts";
import { foldStatistics } from "../search/index/statistics.ts";

export interface RunOfSpace {
  readonly run_num: number;
  readonly space_num: number;
}

/** A run that ended so lately may still be in the hand of an activity that has not noticed. */
const ENDED =
  "r.status in ('completed', 'failed', 'cancelled') and r.completed_at < now() - interval '2 minutes'";

/** Hidden runs whose embeddings nobody will serve: superseded, never published, or of documents that are gone. Their postings went before. */
export async function findHiddenRuns(sql: Sql, limit: number): Promise<RunOfSpace[]> {
  const { rows } = await sql.query<RunOfSpace>(
    `select h.run_num, h.space_num from hidden_runs h left join pipeline_runs r on r.num = h.run_num left join documents d on d.id = r.document_id
     where (r.num is null or (${ENDED} and (d.id is null or d.deleted_at is null and d.published_run_num is distinct from h.run_num)))
       and not exists (select from posting_runs p where p.run_num = h.run_num)
     order by h.run_num limit $1`,
    [limit],
  );
  return rows;
}

/** Removes a part of the hidden run's embeddings, and its mark with the last. @returns whether there is more to do. */
export async function purgeHiddenRun(sql: Sql, run: RunOfSpace): Promise<boolean> {
  if (await isServed(sql, run.run_num)) return false;
  if (await deleteEmbeddings(sql, { spaceNum: run.space_num, runNum: run.run_num, limit: ROWS_A_PURGE }))
    return true;
  await forgetHiddenRuns(sql, [run.run_num]);
  return false;
}

/** Whether the run is the published one of its document, whose row is locked: nobody publishes or restores meanwhile. */
async function isServed(sql: Sql, runNum: number): Promise<boolean> {
  const { rows } = await sql.query<{ is_served: boolean }>(
    `select coalesce(d.published_run_num = r.num, false) as is_served from documents d join pipeline_runs r on r.document_id = d.id where r.num = $1 for update of d`,
    [runNum],
  );
  return rows[0]?.is_served ?? false;
}

/** Of a document two versions keep their text: the published one, and of the others the last that was whole, for restore. */
const TEXT_IS_OVER = `${ENDED} and not r.text_purged and d.deleted_at is null and r.num is distinct from d.published_run_num
  and not (r.status = 'completed' and r.num = (
    select max(k.num) from pipeline_runs k where k.document_id = r.document_id and k.status = 'completed' and k.num is distinct from d.published_run_num))`;

/** Ended runs whose text and chunks nobody can ask for: versions before the one kept for restore, and what failed or was cancelled. */
export async function findSpentRuns(sql: Sql, limit: number): Promise<RunOfSpace[]> {
  const { rows } = await sql.query<RunOfSpace>(
    `select r.num as run_num, r.space_num from pipeline_runs r join documents d on d.id = r.document_id where ${TEXT_IS_OVER} order by r.num limit $1`,
    [limit],
  );
  return rows;
}

/** Removes a part of the spent run's embeddings, text and chunks, and notes when nothing is left. @returns whether there is more to do. */
export async function purgeSpentRun(sql: Sql, run: RunOfSpace): Promise<boolean> {
  await isServed(sql, run.run_num);
  const { rowCount } = await sql.query(
    `select from pipeline_runs r join documents d on d.id = r.document_id where r.num = $1 and ${TEXT_IS_OVER}`,
    [run.run_num],
  );
  if (rowCount === 0) return false;
  if (await deleteEmbeddings(sql, { spaceNum: run.space_num, runNum: run.run_num, limit: ROWS_A_PURGE }))
    return true;
  if (await deleteText(sql, run.run_num, ROWS_A_PURGE)) return true;
  await forgetHiddenRuns(sql, [run.run_num]);
  await sql.query("update pipeline_runs set text_purged = true where num = $1", [run.run_num]);
  return false;
}

/** Objects of file versions that no raw file, no run with text, and no document's latest run refers to. */
export async function findSpentObjects(sql: Sql, limit: number): Promise<string[]> {
  const { rows } = await sql.query<{ object_key: string }>(
    `select distinct r.object_key from pipeline_runs r
     where r.text_purged and not r.object_purged
       and not exists (select from raw_files f where f.object_key = r.object_key)
       and not exists (select from pipeline_runs k left join documents d on d.latest_run_num = k.num where k.object_key = r.object_key and (not k.text_purged or d.id is not null))
     limit $1`,
    [limit],
  );
  return rows.map((row) => row.object_key);
}

/** Notes that the objects are gone from the store. */
export async function markObjectsPurged(sql: Sql, objectKeys: readonly string[]): Promise<void> {
  await sql.query("update pipeline_runs set object_purged = true where object_key = any($1::text[])", [
    objectKeys,
  ]);
}

/** Removes the rows of at most `limit` runs beyond the last 50 of a document, once nothing else is left of them. @returns how many. */
export async function deleteOldRuns(sql: Sql, limit: number): Promise<number> {
  const { rowCount } = await sql.query(
    `delete from pipeline_runs where id in (
       select r.id from documents d join pipeline_runs r on r.document_id = d.id
       where d.run_count > ${KEPT_RUNS} and r.version <= d.run_count - ${KEPT_RUNS} and r.text_purged
         and (r.object_purged or exists (select from raw_files f where f.object_key = r.object_key)
           or exists (select from pipeline_runs k where k.object_key = r.object_key and not k.text_purged))
       limit $1)`,
    [limit],
  );
  return rowCount ?? 0;
}

/**
 * Looks at no more than `limit` embeddings that were not used for 90 days: removes those whose text no chunk has any more, and notes
 * that the others are in use. @returns how many it looked at, and how many it removed.
 */
export async function deleteUnusedEmbeddings(
  sql: Sql,
  organizationId: string,
  limit: number,
): Promise<{ seen: number; deleted: number }> {
  const { rows } = await sql.query<{ seen: number; deleted: number }>(
    `with old as materialized (
       select e.model_num, e.content_hash from embedding_cache e where e.organization_id = $1 and e.last_used_at < now() - interval '90 days' limit $2),
     used as materialized (select distinct c.content_hash from chunks c where c.organization_id = $1 and c.content_hash in (select content_hash from old)),
     kept as (
       update embedding_cache e set last_used_at = now() from old where e.organization_id = $1 and e.model_num = old.model_num and e.content_hash = old.content_hash
         and old.content_hash in (select content_hash from used)),
     gone as (
       delete from embedding_cache e using old where e.organization_id = $1 and e.model_num = old.model_num and e.content_hash = old.content_hash
         and old.content_hash not in (select content_hash from used) returning 1)
     select (select count(*) from old)::int as seen, (select count(*) from gone)::int as deleted`,
    [organizationId, limit],
  );
  return rows[0]!;
}

const DIFFERENCES_WORTH_FOLDING = 16;

/** Makes one row of each space's statistics where many have gathered. @returns in how many spaces. */
export async function foldAllStatistics(sql: Sql, organizationNum: number): Promise<number> {
  const { rows } = await sql.query<{ space_num: number }>(
    "select space_num from space_statistics group by space_num having count(*) >= $1",
    [DIFFERENCES_WORTH_FOLDING],
  );
  for (const { space_num } of rows) await foldStatistics(sql, organizationNum, space_num);
  return rows.length;
}

/**
 * Uploads that never ended: at most `limit` intents whose lease ended so long ago that they are a day old. Their rows are locked, so
 * that none of them is accepted meanwhile. `is_stored` is true where a row names the object all the same.
 */
export async function lockExpiredIntents(
  sql: Sql,
  limit: number,
): Promise<Array<{ object_key: string; is_stored: boolean }>> {
  const { rows } = await sql.query<{ object_key: string; is_stored: boolean }>(
    `select i.object_key, exists (select from raw_files f where f.object_key = i.object_key) or exists (select from pipeline_runs r where r.object_key = i.object_key) as is_stored
     from upload_intents i where i.leased_until < now() - interval '23 hours' order by i.object_key limit $1 for update of i skip locked`,
    [limit],
  );
  return rows;
}

export async function deleteIntents(sql: Sql, objectKeys: readonly string[]): Promise<void> {
  await sql.query("delete from upload_intents where object_key = any($1::text[])", [objectKeys]);
}
