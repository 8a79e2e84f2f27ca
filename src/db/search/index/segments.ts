/** The only SQL that keeps the inverted index small and fast: merges segments, and takes out the postings of runs that nobody will serve. */
import type pg from "pg";
import { type OrganizationKey, type Sql, queryOnce } from "../../pool.ts";
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
import { createTimeSlice } from "../time-slice.ts";
import { type TermBytes, languagesAmong, packBlocks, readBlock } from "./term-blocks.ts";

/** Segments of about one size that wait for each other before they are merged; a query reads a row a term of every segment. */
const MERGE_AT = 4;
const MOST_MERGED = 64;
/** A segment this large stays as it is: some 13,000 chunks. Merging and purging are transactions of a few seconds at most. */
const FINAL_TERMS = 2_000_000;
const MOST_TERMS_MERGED = 2 * FINAL_TERMS;
const SMALLEST_TIER_TERMS = 8_192;
const TIER_FACTOR = 4;
/** Postings of runs that are not served cost time and space in every query; below this share they are left for later. */
const DEAD_SHARE = 0.1;

/** How many times four times 8,192 terms. */
const TIER = `greatest(0, floor(ln(greatest(s.terms, 1)::float8 / ${SMALLEST_TIER_TERMS}) / ln(${TIER_FACTOR})))::int`;

/** Hidden runs, as `h`, that no document will publish; a run that ended so lately may still be in the hand of an activity. */
const NEVER_SERVED = `(h.reason = 'deleted' or not exists (select from pipeline_runs r where r.num = h.run_num)
  or exists (select from pipeline_runs r where r.num = h.run_num and r.status in ('completed', 'failed', 'cancelled') and r.completed_at < now() - interval '2 minutes'))`;
const NOT_PUBLISHED =
  "not exists (select from documents d where d.published_run_num = h.run_num and d.deleted_at is null)";

export interface SpaceToTend {
  readonly organization: OrganizationKey;
  readonly spaceNum: number;
}

/** Spaces with segments to merge, to purge, or of another version of the analyzer; at most `limit`. */
export async function listSpacesToTend(
  system: pg.Pool,
  analyzerVersion: number,
  limit: number,
): Promise<SpaceToTend[]> {
  const { rows } = await queryOnce<{ space_num: number; id: string; num: number }>(
    system,
    `with due as (
       select s.organization_num, s.space_num from posting_segments s where s.terms < ${FINAL_TERMS} group by s.organization_num, s.space_num, s.analyzer_version, ${TIER} having count(*) >= ${MERGE_AT}
       union select organization_num, space_num from posting_segments where analyzer_version <> $1
       union select p.organization_num, p.space_num from hidden_runs h join posting_runs p on p.run_num = h.run_num join posting_segments s on s.num = p.segment_num
         where ${NEVER_SERVED} group by p.organization_num, p.space_num, s.num, s.terms having sum(p.terms) >= ${DEAD_SHARE} * s.terms)
     select due.space_num, o.id, o.num from due join organizations o on o.num = due.organization_num and o.deleted_at is null order by random() limit $2`,
    [analyzerVersion, limit],
  );
  return rows.map(({ space_num, id, num }) => ({ organization: { id, num }, spaceNum: space_num }));
}

interface SegmentRow {
  readonly num: number;
  readonly terms: number;
  readonly analyzer_version: number;
  readonly tier: number;
}

/** The smallest tier with enough segments to merge, cut to what one transaction may hold. */
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
 * Makes one segment of several of about one size, in the caller's transaction: a search sees either all of them or the one. Segments
 * that somebody else has in hand are passed over.
 * @returns how many were merged; 0 where nothing is due.
 */
export async function mergeSegments(sql: Sql, organizationNum: number, spaceNum: number): Promise<number> {
  const { rows } = await sql.query<SegmentRow>(
    `select s.num, s.terms, s.analyzer_version, ${TIER} as tier from posting_segments s where s.space_num = $1 and s.terms < ${FINAL_TERMS}
     order by s.terms, s.num for update skip locked`,
    [spaceNum],
  );
  const chosen = chooseMerge(rows);
  if (chosen.length < 2) return 0;
  const nums = chosen.map((segment) => segment.num);
  await writeMerged(sql, { organizationNum, spaceNum }, nums, await findDeadRuns(sql, nums));
  return chosen.length;
}

/** One segment with what the given ones have, but for the postings of some runs. The caller holds them. */
async function writeMerged(
  sql: Sql,
  space: IndexedSpace,
  nums: readonly number[],
  dead: readonly number[],
): Promise<void> {
  const { rows: blocks } = await sql.query<{ num: number; first_term: string; data: Buffer }>(
    "select segment_num as num, first_term, data from postings where segment_num = any($1::int[])",
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
      eachPosting(
        postings,
        (place, count) => void (placesOf[place]! >= 0 && kept.push(postingOf(placesOf[place]!, count))),
      );
      if (kept.length > 0) byTerm.set(term, kept);
    });
  }
  const { rows } = await sql.query<{ num: number }>(
    `insert into posting_segments (organization_num, space_num, analyzer_version, terms, languages)
     select $1, $2, min(analyzer_version), (select coalesce(sum(terms), 0) from posting_runs where segment_num = any($3::int[]) and run_num <> all($4::int[])), $5
     from posting_segments where num = any($3::int[]) returning num`,
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
    "update posting_runs set segment_num = $1 where segment_num = any($2::int[]) and run_num <> all($3::int[])",
    [rows[0]!.num, nums, dead],
  );
  await dropSegments(sql, nums);
  await forgetHiddenRuns(sql, dead);
}

/** The chunks of all lists but those of some runs, in order, and for each list where its chunks are in that: -1 for those left out. */
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

/** Runs with postings in the segments that nobody will serve. */
async function findDeadRuns(sql: Sql, nums: readonly number[]): Promise<number[]> {
  const { rows } = await sql.query<{ run_num: number }>(
    `select distinct p.run_num from posting_runs p join hidden_runs h on h.space_num = p.space_num and h.run_num = p.run_num
     where p.segment_num = any($1::int[]) and ${NEVER_SERVED} and ${NOT_PUBLISHED}`,
    [nums],
  );
  return rows.map((row) => row.run_num);
}

export async function dropSegments(sql: Sql, nums: readonly number[]): Promise<void> {
  await sql.query("delete from postings where segment_num = any($1::int[])", [nums]);
  await sql.query("delete from posting_runs where segment_num = any($1::int[])", [nums]);
  await sql.query("delete from posting_segments where num = any($1::int[])", [nums]);
}

/** Which segments are worth purging: of one space where much of them is dead, or everywhere in the organization. */
export type PurgeReason = { readonly spaceNum: number } | "deleted" | "any";

/** Segments of the tenant that hold postings of runs which nobody will serve. */
export async function findSegmentsToPurge(sql: Sql, reason: PurgeReason): Promise<number[]> {
  const isSpace = typeof reason === "object";
  const { rows } = await sql.query<{ num: number }>(
    `select s.num from hidden_runs h join posting_runs p on p.run_num = h.run_num join posting_segments s on s.num = p.segment_num
     where ${NEVER_SERVED} and ${NOT_PUBLISHED} and ${isSpace ? "p.space_num = $1" : "$1::int is null"}${reason === "deleted" ? " and h.reason = 'deleted'" : ""}
     group by s.num, s.terms having sum(p.terms) >= ${isSpace ? DEAD_SHARE : 0} * s.terms order by s.num`,
    [isSpace ? reason.spaceNum : null],
  );
  return rows.map((row) => row.num);
}

/**
 * Writes a segment anew without the postings of runs that nobody will serve, and takes away their marks where nothing else of them is
 * left, in the caller's transaction. A segment that somebody else has in hand is left to them. @returns whether it was.
 */
export async function purgeSegment(sql: Sql, segmentNum: number): Promise<boolean> {
  const held = await sql.query<{ organization_num: number; space_num: number }>(
    "select organization_num, space_num from posting_segments where num = $1 for update skip locked",
    [segmentNum],
  );
  if (held.rows[0] === undefined)
    return ((await sql.query("select from posting_segments where num = $1", [segmentNum])).rowCount ?? 0) > 0;
  const dead = await findDeadRuns(sql, [segmentNum]);
  const others = await sql.query(
    "select from posting_runs where segment_num = $1 and run_num <> all($2::int[]) limit 1",
    [segmentNum, dead],
  );
  if (others.rowCount === 0) {
    await dropSegments(sql, [segmentNum]);
    await forgetHiddenRuns(sql, dead);
  } else if (dead.length > 0) {
    const { organization_num: organizationNum, space_num: spaceNum } = held.rows[0];
    await writeMerged(sql, { organizationNum, spaceNum }, [segmentNum], dead);
  }
  return false;
}
