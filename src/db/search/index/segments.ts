/** SQL of the segments of the inverted index: which there are, which runs they have, and what they become. */
import type { Sql } from "../../pool.ts";
import type { IndexedSpace } from "./postings.ts";
import { FINAL_TERMS, IS_NEVER_SERVED, IS_NOT_PUBLISHED, MERGE_AT, TIER } from "./segment-rules.ts";

export interface SegmentRow {
  readonly num: number;
  readonly terms: number;
  readonly analyzer_version: number;
  readonly tier: number;
}

/** What becomes of segments that another transaction has locked. */
export type Held = "skipped" | "awaited";

/** Locks the segments of the space that may be merged, and returns them, the smallest first. */
export async function lockSegmentsToMerge(sql: Sql, spaceNum: number, held: Held): Promise<SegmentRow[]> {
  const { rows } = await sql.query<SegmentRow>(
    `select segment.num,
            segment.terms,
            segment.analyzer_version,
            ${TIER} as tier
     from posting_segments segment
     where segment.space_num = $1
       and segment.terms < ${FINAL_TERMS}
     order by segment.terms, segment.num
     for update ${held === "skipped" ? "skip locked" : ""}`,
    [spaceNum],
  );
  return rows;
}

/**
 * Whether the space has segments to merge. If {@link lockSegmentsToMerge} finds too few, others have them
 * locked: two that look at the same time see a part of them each, and each part may be too few.
 */
export async function isMergeDue(sql: Sql, spaceNum: number): Promise<boolean> {
  const { rowCount } = await sql.query(
    `select
     from posting_segments segment
     where segment.space_num = $1
       and segment.terms < ${FINAL_TERMS}
     group by segment.analyzer_version, ${TIER}
     having count(*) >= ${MERGE_AT}
     limit 1`,
    [spaceNum],
  );
  return rowCount === 1;
}

interface Merge {
  readonly nums: readonly number[];
  /** Runs that are left out. */
  readonly dead: readonly number[];
}

/** Adds the segment that the given ones become. @returns its number. */
export async function insertMerged(
  sql: Sql,
  space: IndexedSpace,
  { nums, dead, languages }: Merge & { readonly languages: readonly string[] },
): Promise<number> {
  const { rows } = await sql.query<{ num: number }>(
    `insert into posting_segments (organization_num, space_num, analyzer_version, terms, languages)
     select $1,
            $2,
            min(analyzer_version),
            (
              select coalesce(sum(terms), 0)
              from posting_runs
              where segment_num = any($3::int[])
                and run_num <> all($4::int[])
            ),
            $5
     from posting_segments
     where num = any($3::int[])
     returning num`,
    [space.organizationNum, space.spaceNum, nums, dead, languages],
  );
  return rows[0]!.num;
}

/** Gives the parts of the segments to the one that they were merged into. */
export async function moveParts(sql: Sql, merged: number, { nums, dead }: Merge): Promise<void> {
  await sql.query(
    `update posting_runs
     set segment_num = $1
     where segment_num = any($2::int[])
       and run_num <> all($3::int[])`,
    [merged, nums, dead],
  );
}

/** Returns the runs with postings in the segments that will never be served. */
export async function findDeadRuns(sql: Sql, nums: readonly number[]): Promise<number[]> {
  const { rows } = await sql.query<{ run_num: number }>(
    `select distinct part.run_num
     from posting_runs part
     join hidden_runs hidden
       on hidden.space_num = part.space_num
      and hidden.run_num = part.run_num
     where part.segment_num = any($1::int[])
       and ${IS_NEVER_SERVED}
       and ${IS_NOT_PUBLISHED}`,
    [nums],
  );
  return rows.map((row) => row.run_num);
}

export async function dropSegments(sql: Sql, nums: readonly number[]): Promise<void> {
  await sql.query("delete from postings where segment_num = any($1::int[])", [nums]);
  await sql.query("delete from posting_runs where segment_num = any($1::int[])", [nums]);
  await sql.query("delete from posting_segments where num = any($1::int[])", [nums]);
}

/** Locks a segment. @returns its space; undefined if it is gone or another transaction has locked it. */
export async function lockSegment(sql: Sql, segmentNum: number): Promise<IndexedSpace | undefined> {
  const { rows } = await sql.query<{ organization_num: number; space_num: number }>(
    `select organization_num, space_num
     from posting_segments
     where num = $1
     for update skip locked`,
    [segmentNum],
  );
  const [found] = rows;
  return found && { organizationNum: found.organization_num, spaceNum: found.space_num };
}

/** Whether the segment has runs other than these. */
export async function hasOtherRuns(
  sql: Sql,
  segmentNum: number,
  runNums: readonly number[],
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `select
     from posting_runs
     where segment_num = $1
       and run_num <> all($2::int[])
     limit 1`,
    [segmentNum, runNums],
  );
  return rowCount === 1;
}

export async function hasSegment(sql: Sql, segmentNum: number): Promise<boolean> {
  const { rowCount } = await sql.query(
    `select
     from posting_segments
     where num = $1`,
    [segmentNum],
  );
  return rowCount === 1;
}
