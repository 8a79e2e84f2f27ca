/** Merges segments of the inverted index, and writes them again without runs that will never be served. */
import type { Sql } from "../../pool.ts";
import { forgetHiddenRuns } from "../hidden.ts";
import {
  type ListedChunk,
  type SegmentChunks,
  eachPosting,
  packChunks,
  packPostings,
  postingOf,
  unpackChunks,
} from "./posting-blocks.ts";
import { type IndexedSpace, LIST_ROW, insertBlocks } from "./postings.ts";
import { FINAL_TERMS, IS_NEVER_SERVED, IS_NOT_PUBLISHED, MERGE_AT, TIER } from "./segment-rules.ts";
import { createTimeSlice } from "../time-slice.ts";
import { type TermBytes, languagesAmong, packBlocks, readBlock } from "./term-blocks.ts";

/** Bounds what one transaction merges. */
const MOST_MERGED = 64;
const MOST_TERMS_MERGED = 2 * FINAL_TERMS;

interface SegmentRow {
  readonly num: number;
  readonly terms: number;
  readonly analyzer_version: number;
  readonly tier: number;
}

/** Chooses the smallest tier with enough segments to merge, cut to what one transaction may merge. */
function chooseMerge(segments: readonly SegmentRow[]): SegmentRow[] {
  const tiers = [
    ...Map.groupBy(segments, (segment) => `${segment.tier} ${segment.analyzer_version}`).values(),
  ].filter((tier) => tier.length >= MERGE_AT);
  const chosen: SegmentRow[] = [];
  let terms = 0;
  for (const segment of tiers.toSorted((one, other) => one[0]!.tier - other[0]!.tier)[0] ?? []) {
    terms += segment.terms;
    if (chosen.length === MOST_MERGED || terms > MOST_TERMS_MERGED) break;
    chosen.push(segment);
  }
  return chosen;
}

/**
 * Merges several segments of about the same size into one, in the caller's transaction, so that a search sees
 * either all of them or the one. Segments that another transaction has locked are skipped, or awaited.
 *
 * `test/db/search/index/segments.database.test.ts` shows when.
 * @returns how many were merged; 0 if none are due that could be locked.
 */
export async function mergeSegments(
  sql: Sql,
  organizationNum: number,
  spaceNum: number,
  held: "skipped" | "awaited" = "skipped",
): Promise<number> {
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
  const chosen = chooseMerge(rows);
  if (chosen.length < 2) return 0;
  const nums = chosen.map((segment) => segment.num);
  await writeMerged(sql, { organizationNum, spaceNum }, nums, await findDeadRuns(sql, nums));
  return chosen.length;
}

/**
 * Whether the space has segments to merge. If {@link mergeSegments} finds none, others have them locked: two
 * that look at the same time see a part of them each, and each part may be too few.
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

/** Writes one segment with the postings of the given ones without dead runs. The caller has locked them. */
async function writeMerged(
  sql: Sql,
  space: IndexedSpace,
  nums: readonly number[],
  dead: readonly number[],
): Promise<void> {
  const { rows: blocks } = await sql.query<{ num: number; first_term: string; data: Buffer }>(
    `select segment_num as num, first_term, data
     from postings
     where segment_num = any($1::int[])`,
    [nums],
  );
  const lists = new Map(
    blocks
      .filter((block) => block.first_term === LIST_ROW)
      .map((block) => [block.num, unpackChunks(block.data)]),
  );
  const { chunks, places } = joinLists(lists, new Set(dead));
  const byTerm = new Map<TermBytes, number[]>();
  const endOfSlice = createTimeSlice();
  for (const { num, first_term, data } of blocks) {
    const placesOf = places.get(num);
    if (first_term === LIST_ROW || placesOf === undefined) continue;
    await endOfSlice();
    readBlock(data, (term, postings) => {
      const kept = byTerm.get(term) ?? [];
      eachPosting(postings, (place, count) => {
        const newPlace = placesOf[place]!;
        if (newPlace >= 0) kept.push(postingOf(newPlace, count));
      });
      if (kept.length > 0) byTerm.set(term, kept);
    });
  }
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
    [space.organizationNum, space.spaceNum, nums, dead, languagesAmong(byTerm.keys())],
  );
  const packed = new Map<TermBytes, Buffer>();
  for (const [term, postings] of byTerm) {
    packed.set(term, packPostings(postings));
    await endOfSlice();
  }
  await insertBlocks(sql, space, rows[0]!.num, [
    { firstTerm: LIST_ROW, data: packChunks(chunks) },
    ...(await packBlocks(packed)),
  ]);
  await sql.query(
    `update posting_runs
     set segment_num = $1
     where segment_num = any($2::int[])
       and run_num <> all($3::int[])`,
    [rows[0]!.num, nums, dead],
  );
  await dropSegments(sql, nums);
  await forgetHiddenRuns(sql, dead);
}

/**
 * Joins the lists into one, ordered by run and index, without the chunks of some runs.
 * @returns `chunks`, the joined list, and `places`: for each list the new places of its chunks, -1 if left
 * out.
 */
function joinLists(
  lists: ReadonlyMap<number, SegmentChunks>,
  without: ReadonlySet<number>,
): { chunks: ListedChunk[]; places: Map<number, Int32Array> } {
  const all: (ListedChunk & { num: number; place: number })[] = [];
  for (const [num, { runs, chunks, lengths }] of lists) {
    for (const [place, run] of runs.entries())
      if (!without.has(run)) all.push({ num, place, run, chunk: chunks[place]!, length: lengths[place]! });
  }
  all.sort((one, other) => one.run - other.run || one.chunk - other.chunk);
  const places = new Map([...lists].map(([num, { runs }]) => [num, new Int32Array(runs.length).fill(-1)]));
  for (const [at, { num, place }] of all.entries()) places.get(num)![place] = at;
  return { chunks: all, places };
}

/** Returns the runs with postings in the segments that will never be served. */
async function findDeadRuns(sql: Sql, nums: readonly number[]): Promise<number[]> {
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

/**
 * Writes a segment again without the postings of runs that will never be served, in the caller's transaction,
 * and deletes the marks of runs that have no other search entries.
 * @returns whether the segment was skipped because another transaction has locked it.
 */
export async function purgeSegment(sql: Sql, segmentNum: number): Promise<boolean> {
  const locked = await sql.query<{ organization_num: number; space_num: number }>(
    `select organization_num, space_num
     from posting_segments
     where num = $1
     for update skip locked`,
    [segmentNum],
  );
  if (locked.rows[0] === undefined) return exists(sql, segmentNum);
  const dead = await findDeadRuns(sql, [segmentNum]);
  const others = await sql.query(
    `select
     from posting_runs
     where segment_num = $1
       and run_num <> all($2::int[])
     limit 1`,
    [segmentNum, dead],
  );
  if (others.rowCount === 0) {
    await dropSegments(sql, [segmentNum]);
    await forgetHiddenRuns(sql, dead);
  } else if (dead.length > 0) {
    const { organization_num: organizationNum, space_num: spaceNum } = locked.rows[0];
    await writeMerged(sql, { organizationNum, spaceNum }, [segmentNum], dead);
  }
  return false;
}

async function exists(sql: Sql, segmentNum: number): Promise<boolean> {
  const { rowCount } = await sql.query(
    `select
     from posting_segments
     where num = $1`,
    [segmentNum],
  );
  return rowCount === 1;
}
