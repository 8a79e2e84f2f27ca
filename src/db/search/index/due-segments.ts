/** Finds the spaces and segments of the inverted index that need to be merged, purged or indexed again. */
import type pg from "pg";
import { type OrganizationRef, type Sql, queryOnce } from "../../pool.ts";
import {
  DEAD_SHARE,
  FINAL_TERMS,
  IS_NEVER_SERVED,
  IS_NOT_PUBLISHED,
  MERGE_AT,
  TIER,
} from "./segment-rules.ts";

export interface DueSpace {
  readonly organization: OrganizationRef;
  readonly spaceNum: number;
}

/** Returns at most `limit` random spaces with segments to merge, purge, or analyze again. */
export async function listDueSpaces(
  system: pg.Pool,
  analyzerVersion: number,
  limit: number,
): Promise<DueSpace[]> {
  const { rows } = await queryOnce<{ space_num: number; id: string; num: number }>(
    system,
    `with due as (
       select segment.organization_num, segment.space_num
       from posting_segments segment
       where segment.terms < ${FINAL_TERMS}
       group by segment.organization_num, segment.space_num, segment.analyzer_version, ${TIER}
       having count(*) >= ${MERGE_AT}
       union
       select organization_num, space_num
       from posting_segments
       where analyzer_version <> $1
       union
       select part.organization_num, part.space_num
       from hidden_runs hidden
       join posting_runs part on part.run_num = hidden.run_num
       join posting_segments segment on segment.num = part.segment_num
       where ${IS_NEVER_SERVED}
       group by part.organization_num, part.space_num, segment.num, segment.terms
       having sum(part.terms) >= ${DEAD_SHARE} * segment.terms
     )
     select due.space_num, organization.id, organization.num
     from due
     join organizations organization
       on organization.num = due.organization_num
      and organization.deleted_at is null
     order by random()
     limit $2`,
    [analyzerVersion, limit],
  );
  return rows.map(({ space_num, id, num }) => ({ organization: { id, num }, spaceNum: space_num }));
}

/**
 * Which segments to find: those of one space with at least {@link DEAD_SHARE} of dead postings, or all of the
 * organization with postings of runs that are deleted or, with `any`, of any runs that are never served.
 */
export type PurgeReason = { readonly spaceNum: number } | "deleted" | "any";

const SEGMENTS_OF_HIDDEN_RUNS = `
     select segment.num
     from hidden_runs hidden
     join posting_runs part on part.run_num = hidden.run_num
     join posting_segments segment on segment.num = part.segment_num
     where ${IS_NOT_PUBLISHED}`;

const SEGMENTS_OF_SPACE = `${SEGMENTS_OF_HIDDEN_RUNS}
       and ${IS_NEVER_SERVED}
       and part.space_num = $1
     group by segment.num, segment.terms
     having sum(part.terms) >= ${DEAD_SHARE} * segment.terms
     order by segment.num`;

const SEGMENTS_WITH_DEAD_RUNS = `${SEGMENTS_OF_HIDDEN_RUNS}
       and ${IS_NEVER_SERVED}
     group by segment.num
     order by segment.num`;

const SEGMENTS_WITH_DELETED_RUNS = `${SEGMENTS_OF_HIDDEN_RUNS}
       and hidden.reason = 'deleted'
     group by segment.num
     order by segment.num`;

/** Returns segments of the tenant that have postings of runs which will never be served. */
export async function findSegmentsToPurge(sql: Sql, reason: PurgeReason): Promise<number[]> {
  const { rows } =
    typeof reason === "object"
      ? await sql.query<{ num: number }>(SEGMENTS_OF_SPACE, [reason.spaceNum])
      : await sql.query<{ num: number }>(
          reason === "deleted" ? SEGMENTS_WITH_DELETED_RUNS : SEGMENTS_WITH_DEAD_RUNS,
        );
  return rows.map((row) => row.num);
}
