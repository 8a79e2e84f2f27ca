/** Merges segments of the inverted index, and writes them again without runs that will never be served. */
import type { Sql } from "../../db/pool.ts";
import { forgetHiddenRuns } from "../../db/search/hidden.ts";
import { type IndexedSpace, LIST_ROW, insertBlocks, readSegments } from "../../db/search/index/postings.ts";
import { FINAL_TERMS, MERGE_AT } from "../../db/search/index/segment-rules.ts";
import {
  type Held,
  type SegmentRow,
  dropSegments,
  findDeadRuns,
  hasOtherRuns,
  hasSegment,
  insertMerged,
  lockSegment,
  lockSegmentsToMerge,
  moveParts,
} from "../../db/search/index/segments.ts";
import { createTimeSlice } from "../../process/time-slice.ts";
import {
  type ListedChunk,
  type SegmentChunks,
  eachPosting,
  packChunks,
  packPostings,
  postingOf,
  unpackChunks,
} from "./posting-blocks.ts";
import { type TermBytes, languagesAmong, packBlocks, readBlock } from "./term-blocks.ts";

/** Bounds what one transaction merges. */
const MOST_MERGED = 64;
const MOST_TERMS_MERGED = 2 * FINAL_TERMS;

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
 * `test/search/index/segments.database.test.ts` shows when.
 * @returns how many were merged; 0 if none are due that could be locked.
 */
export async function mergeSegments(
  sql: Sql,
  organizationNum: number,
  spaceNum: number,
  held: Held = "skipped",
): Promise<number> {
  const chosen = chooseMerge(await lockSegmentsToMerge(sql, spaceNum, held));
  if (chosen.length < 2) return 0;
  const nums = chosen.map((segment) => segment.num);
  await writeMerged(sql, { organizationNum, spaceNum }, nums, await findDeadRuns(sql, nums));
  return chosen.length;
}

/**
 * Writes one segment with the postings of the given ones, but for those of dead runs. The caller has locked
 * them.
 */
async function writeMerged(
  sql: Sql,
  space: IndexedSpace,
  nums: readonly number[],
  dead: readonly number[],
): Promise<void> {
  const blocks = await readSegments(sql, nums);
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
  const merged = await insertMerged(sql, space, { nums, dead, languages: languagesAmong(byTerm.keys()) });
  const packed = new Map<TermBytes, Buffer>();
  for (const [term, postings] of byTerm) {
    packed.set(term, packPostings(postings));
    await endOfSlice();
  }
  await insertBlocks(sql, space, merged, [
    { firstTerm: LIST_ROW, data: packChunks(chunks) },
    ...(await packBlocks(packed)),
  ]);
  await moveParts(sql, merged, { nums, dead });
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

/**
 * Writes a segment again without the postings of runs that will never be served, in the caller's transaction,
 * and deletes the marks of runs that have no other search entries.
 * @returns whether the segment was skipped because another transaction has locked it.
 */
export async function purgeSegment(sql: Sql, segmentNum: number): Promise<boolean> {
  const space = await lockSegment(sql, segmentNum);
  if (space === undefined) return hasSegment(sql, segmentNum);
  const dead = await findDeadRuns(sql, [segmentNum]);
  if (!(await hasOtherRuns(sql, segmentNum, dead))) {
    await dropSegments(sql, [segmentNum]);
    await forgetHiddenRuns(sql, dead);
  } else if (dead.length > 0) await writeMerged(sql, space, [segmentNum], dead);
  return false;
}
