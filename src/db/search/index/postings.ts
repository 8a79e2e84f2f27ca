/** Writes and reads postings: the inverted index that BM25 scores are computed from. */
import { MAX_PUBLISH_CHUNKS } from "../../../domain/work/processing.ts";
import type { Sql } from "../../pool.ts";
import { type SegmentChunks, packChunks, packPostings, postingOf } from "./posting-blocks.ts";
import type { SearchScope } from "../scope.ts";
import { knownLists, listsOf } from "./segment-chunks.ts";
import { createTimeSlice } from "../time-slice.ts";
import {
  type TermBlock,
  type TermBytes,
  bytesOf,
  findTerm,
  languagesAmong,
  packBlocks,
} from "./term-blocks.ts";

export interface IndexedChunk {
  readonly runNum: number;
  readonly chunkIndex: number;
  /** The analyzer's output for its text, with repetitions. Their number is the chunk's length. */
  readonly terms: readonly string[];
  /** The same of its header, which does not count for the length. */
  readonly headerTerms: readonly string[];
}

/**
 * How often a term in a chunk's header counts, as if it were in its text (BM25F). A whole number, as postings
 * have counts. A change applies to what is indexed from then on; to all, if the version of the analyzer is
 * raised with it.
 * @see docs/decisions/0040-headers-of-chunks.md
 */
export const HEADER_WEIGHT = 1;

export interface IndexedSpace {
  readonly organizationNum: number;
  readonly spaceNum: number;
}

/** Consecutive chunks of one run that are indexed together. */
interface RunPart {
  readonly runNum: number;
  readonly firstChunk: number;
  readonly chunks: IndexedChunk[];
}

/** Groups chunks into parts within the batches of a large run: the same however they are indexed. */
function partsOf(chunks: readonly IndexedChunk[]): RunPart[] {
  const parts: RunPart[] = [];
  for (const chunk of chunks.toSorted(
    (one, other) => one.runNum - other.runNum || one.chunkIndex - other.chunkIndex,
  )) {
    const last = parts.at(-1)?.chunks.at(-1);
    const goesOn =
      last?.runNum === chunk.runNum &&
      last.chunkIndex + 1 === chunk.chunkIndex &&
      chunk.chunkIndex % MAX_PUBLISH_CHUNKS !== 0;
    if (goesOn) parts.at(-1)!.chunks.push(chunk);
    else parts.push({ runNum: chunk.runNum, firstChunk: chunk.chunkIndex, chunks: [chunk] });
  }
  return parts;
}

const termsOf = (chunks: readonly IndexedChunk[]): number =>
  chunks.reduce((sum, chunk) => sum + chunk.terms.length, 0);

/** What the headers add to the counts of postings. */
const headerTermsOf = (chunks: readonly IndexedChunk[]): number =>
  HEADER_WEIGHT * chunks.reduce((sum, chunk) => sum + chunk.headerTerms.length, 0);

/** Packs the postings of a segment by term. The place of a chunk is its position in `chunks`. */
async function packTerms(chunks: readonly IndexedChunk[]): Promise<Map<TermBytes, Buffer>> {
  const byTerm = new Map<string, number[]>();
  const endOfSlice = createTimeSlice();
  for (const [place, { terms, headerTerms }] of chunks.entries()) {
    const counts = new Map<string, number>();
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
    for (const term of headerTerms) counts.set(term, (counts.get(term) ?? 0) + HEADER_WEIGHT);
    for (const [term, count] of counts) {
      const postings = byTerm.get(term);
      if (postings === undefined) byTerm.set(term, [postingOf(place, count)]);
      else postings.push(postingOf(place, count));
    }
    await endOfSlice();
  }
  const packed = new Map<TermBytes, Buffer>();
  for (const [term, postings] of byTerm) {
    packed.set(bytesOf(term), packPostings(postings));
    await endOfSlice();
  }
  return packed;
}

/** The `first_term` of the row with the segment's chunks. No term is empty, so it sorts first. */
export const LIST_ROW = "";

/**
 * Indexes chunks of any number of runs as one segment. Skips a part of a run that is indexed already,
 * recognized by its first chunk, so that of two attempts that index the same part only one does.
 *
 * `test/db/search/index/postings.database.test.ts` shows what search finds then.
 * @returns how many terms of texts were indexed, with repetitions, by run number.
 */
export async function insertPostings(
  sql: Sql,
  space: IndexedSpace,
  chunks: readonly IndexedChunk[],
  analyzerVersion: number,
): Promise<Map<number, number>> {
  const parts = partsOf(chunks);
  if (parts.length === 0) return new Map();
  const { rows } = await sql.query<{ run_num: number; first_chunk: number; segment_num: number }>({
    name: "search.insert-segment",
    text: `with segment as (
             insert into posting_segments (organization_num, space_num, analyzer_version, terms, languages)
             values ($1, $2, $3, $8, $9)
             returning num
           )
           insert into posting_runs
             (organization_num, space_num, segment_num, run_num, first_chunk, chunk_count, terms, header_terms)
           select $1, $2, segment.num, part.*
           from segment,
                unnest($4::int[], $5::int[], $6::int[], $7::bigint[], $10::bigint[])
                  part(run_num, first_chunk, chunk_count, terms, header_terms)
           on conflict do nothing
           returning run_num, first_chunk, segment_num`,
    values: [
      space.organizationNum,
      space.spaceNum,
      analyzerVersion,
      parts.map((part) => part.runNum),
      parts.map((part) => part.firstChunk),
      parts.map((part) => part.chunks.length),
      parts.map((part) => termsOf(part.chunks)),
      termsOf(chunks),
      languagesAmong(chunks.flatMap((chunk) => [...chunk.terms, ...chunk.headerTerms])),
      parts.map((part) => headerTermsOf(part.chunks)),
    ],
  });
  const isNew = new Set(rows.map((row) => `${row.run_num}/${row.first_chunk}`));
  const written = parts.filter((part) => isNew.has(`${part.runNum}/${part.firstChunk}`));
  const terms = new Map<number, number>();
  for (const part of written) terms.set(part.runNum, (terms.get(part.runNum) ?? 0) + termsOf(part.chunks));
  const indexed = written.flatMap((part) => part.chunks);
  if (indexed.length > 0) {
    const list = packChunks(
      indexed.map((chunk) => ({ run: chunk.runNum, chunk: chunk.chunkIndex, length: chunk.terms.length })),
    );
    await insertBlocks(sql, space, rows[0]!.segment_num, [
      { firstTerm: LIST_ROW, data: list },
      ...(await packBlocks(await packTerms(indexed))),
    ]);
  }
  if (written.length < parts.length) await correctSegments(sql, space);
  return terms;
}

/** Sets the size of the space's segments to that of their parts, and deletes segments without parts. */
async function correctSegments(sql: Sql, { spaceNum }: IndexedSpace): Promise<void> {
  await sql.query(
    `update posting_segments segment
     set terms = parts.terms
     from (
       select segment_num,
              sum(terms) as terms
       from posting_runs
       where space_num = $1
       group by segment_num
     ) parts
     where segment.num = parts.segment_num
       and segment.terms <> parts.terms`,
    [spaceNum],
  );
  await sql.query(
    `delete from posting_segments segment
     where segment.space_num = $1
       and not exists (
         select
         from posting_runs part
         where part.segment_num = segment.num
       )`,
    [spaceNum],
  );
}

export async function insertBlocks(
  sql: Sql,
  space: IndexedSpace,
  segmentNum: number,
  blocks: readonly TermBlock[],
): Promise<void> {
  await sql.query({
    name: "search.insert-postings",
    text: `insert into postings (organization_num, space_num, segment_num, first_term, data)
           select $1, $2, $3, *
           from unnest($4::text[], $5::bytea[])`,
    values: [
      space.organizationNum,
      space.spaceNum,
      segmentNum,
      blocks.map((block) => block.firstTerm),
      blocks.map((block) => block.data),
    ],
  });
}

export interface SegmentPostings {
  readonly list: SegmentChunks;
  /** Packed postings by term. */
  readonly byTerm: ReadonlyMap<string, Buffer>;
}

/** Returns the space's segments with their postings of the terms, those of hidden runs included. */
export async function readPostings(
  sql: Sql,
  { spaceNum }: Pick<SearchScope, "spaceNum">,
  terms: readonly string[],
): Promise<SegmentPostings[]> {
  if (terms.length === 0) return [];
  const known = knownLists(spaceNum);
  // One index lookup for each term and segment: the last block whose first term is not after the wanted one.
  const { rows } = await sql.query<{ num: number; term: string | null; data: Buffer | null }>({
    name: "search.read-postings",
    text: `select segment.num, wanted.term, block.data
           from posting_segments segment
           cross join unnest($2::text[]) wanted(term)
           cross join lateral (
             select postings.data
             from postings
             where postings.segment_num = segment.num
               and postings.first_term > ''
               and postings.first_term <= wanted.term collate "C"
             order by postings.first_term desc
             limit 1
           ) block
           where segment.space_num = $1
           union all
           select segment.num,
                  null,
                  case when segment.num <> all($3::int[]) then (
                    select postings.data
                    from postings
                    where postings.segment_num = segment.num
                      and postings.first_term = ''
                  ) end
           from posting_segments segment
           where segment.space_num = $1`,
    values: [spaceNum, [...new Set(terms)], [...known.keys()]],
  });
  const lists = await listsOf(
    spaceNum,
    known,
    rows.filter((row) => row.term === null).map((row) => ({ num: row.num, packed: row.data })),
  );
  const bytes = new Map(terms.map((term) => [term, Buffer.from(term, "utf8")]));
  const found: SegmentPostings[] = [];
  const endOfSlice = createTimeSlice();
  for (const [num, ofSegment] of Map.groupBy(rows, (row) => row.num)) {
    const list = lists.get(num);
    const byTerm = new Map<string, Buffer>();
    for (const { term, data } of ofSegment) {
      const postings = term === null || data === null ? null : findTerm(data, bytes.get(term)!);
      if (postings !== null) byTerm.set(term!, postings);
    }
    if (list !== undefined) found.push({ list, byTerm });
    await endOfSlice();
  }
  return found;
}
