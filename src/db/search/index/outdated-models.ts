/** The only SQL that finds what was embedded with another model than today's, and queues it to be embedded again. */
import type pg from "pg";
import { newId } from "../../../domain/ids.ts";
import { PRIORITY } from "../../../domain/work/processing.ts";
import { type OrganizationKey, type Sql, queryOnce } from "../../pool.ts";
import { queueRuns } from "../../runs/requests.ts";

/** Documents of one organization that are queued for it at once; the next round queues more. */
const MOST_QUEUED = 500;

/** Spaces with published chunks of another model; at most `limit`. */
export async function listSpacesToEmbed(
  system: pg.Pool,
  model: string,
  limit: number,
): Promise<Array<{ organization: OrganizationKey; spaceNum: number }>> {
  const { rows } = await queryOnce<{ space_num: number; id: string; num: number }>(
    system,
    `select t.space_num, o.id, o.num from space_statistics t join organizations o on o.num = t.organization_num and o.deleted_at is null
     where t.embedding_model <> $1 group by t.space_num, o.id, o.num having sum(t.chunks) > 0 order by random() limit $2`,
    [model, limit],
  );
  return rows.map(({ space_num, id, num }) => ({ organization: { id, num }, spaceNum: space_num }));
}

/**
 * Queues a run for documents of the space whose published version has another model's vectors: search serves that version until the
 * run replaces it. A document with a run under way, or whose run with the new model failed, is left alone.
 * @returns how many were queued.
 */
export async function queueOutdated(sql: Sql, spaceNum: number, model: string): Promise<number> {
  const { rows } = await sql.query<{ id: string }>(
    `select d.id from documents d join pipeline_runs r on r.num = d.published_run_num join pipeline_runs latest on latest.num = d.latest_run_num
     where d.space_num = $1 and d.deleted_at is null and r.embedding_model <> $2
       and latest.status not in ('queued', 'parsing', 'chunking', 'embedding') and not (latest.status = 'failed' and latest.trigger = 'batch' and latest.created_by is null)
     order by d.num limit greatest(0, $3 - (select count(*) from pipeline_runs where priority = $4 and status = 'queued' and claim_id is null))`,
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
