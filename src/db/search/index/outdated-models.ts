/** SQL that finds what was embedded with a former model, and queues it to be embedded again. */
import type pg from "pg";
import { newId } from "../../../domain/ids.ts";
import { PRIORITY } from "../../../domain/work/processing.ts";
import { type OrganizationRef, type Sql, queryOnce } from "../../pool.ts";
import { queueRuns } from "../../runs/requests.ts";

/** Bounds an organization's queued batch runs, to which documents are added; the next round adds more. */
const MOST_QUEUED = 500;

/** Returns at most `limit` spaces, in random order, with published chunks of another model. */
export async function listSpacesToEmbed(
  system: pg.Pool,
  model: string,
  limit: number,
): Promise<Array<{ organization: OrganizationRef; spaceNum: number }>> {
  const { rows } = await queryOnce<{ space_num: number; id: string; num: number }>(
    system,
    `select statistics.space_num, organization.id, organization.num
     from space_statistics statistics
     join organizations organization
       on organization.num = statistics.organization_num
      and organization.deleted_at is null
     where statistics.embedding_model <> $1
     group by statistics.space_num, organization.id, organization.num
     having sum(statistics.chunks) > 0
     order by random()
     limit $2`,
    [model, limit],
  );
  return rows.map(({ space_num, id, num }) => ({ organization: { id, num }, spaceNum: space_num }));
}

/**
 * Queues runs of documents of the space whose published version has vectors of another model. Search serves
 * that version until the run replaces it. Skips documents that have an active run, and those whose run for
 * the new model failed.
 * @returns how many were queued.
 */
export async function queueOutdated(sql: Sql, spaceNum: number, model: string): Promise<number> {
  const { rows } = await sql.query<{ id: string }>(
    `select document.id
     from documents document
     join pipeline_runs published on published.num = document.published_run_num
     join pipeline_runs latest on latest.num = document.latest_run_num
     where document.space_num = $1
       and document.deleted_at is null
       and published.embedding_model <> $2
       and latest.status not in ('queued', 'parsing', 'chunking', 'embedding')
       and not (latest.status = 'failed' and latest.trigger = 'batch' and latest.created_by is null)
     order by document.num
     limit greatest(0, $3 - (
       select count(*)
       from pipeline_runs
       where priority = $4
         and status = 'queued'
         and claim_id is null
     ))`,
    [spaceNum, model, MOST_QUEUED, PRIORITY.batch],
  );
  if (rows.length === 0) return 0;
  const queued = await queueRuns(
    sql,
    rows.map(({ id }) => ({ runId: newId(), documentId: id })),
    {
      trigger: "batch",
      priority: PRIORITY.batch,
      chunkerName: null,
      chunkerConfig: null,
      createdBy: null,
      batchId: null,
      held: false,
    },
  );
  return queued.size;
}
