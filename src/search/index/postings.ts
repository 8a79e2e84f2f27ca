/** Writes and reads postings: the inverted index that BM25 scores are computed from. */
import type { Sql } from "../../db/pool.ts";
import {
  type IndexedSpace,
  LIST_ROW,
  correctSegments,
  insertBlocks,
  insertSegment,
  readBlocks,
} from "../../db/search/index/postings.ts";
import type { SearchScope } from "../../db/search/scope.ts";
import { MAX_PUBLISH_CHUNKS } from "../../domain/work/processing.ts";
import { createTimeSlice } from "../../process/time-slice.ts";
import { type SegmentChunks, packChunks, packPostings, postingOf } from "./posting-blocks.ts";
import { knownLists, listsOf } from "./segment-chunks.ts";
import { type TermBytes, bytesOf, findTerm, languagesAmong, packBlocks } from "./term-blocks.ts";

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

/** Consecutive chunks of one run that are indexed together. */
interface RunPart {
  readonly runNum: number;
  readonly firstChunk: number;
  readonly chunks: IndexedChunk[];
}

/**
 * Groups chunks into parts. A part never crosses the start of a batch of a large run, so parts are the same
 * whether the batches are indexed one by one or together.
 */
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

/**
 * Indexes chunks of any number of runs as one segment. Skips a part of a run that is indexed already,
 * recognized by its first chunk, so that of two attempts that index the same part only one does.
 *
 * `test/search/index/postings.database.test.ts` shows what search finds then.
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
  const rows = await insertSegment(sql, space, {
    analyzerVersion,
    languages: languagesAmong(chunks.flatMap((chunk) => [...chunk.terms, ...chunk.headerTerms])),
    parts: parts.map((part) => ({
      runNum: part.runNum,
      firstChunk: part.firstChunk,
      chunkCount: part.chunks.length,
      terms: termsOf(part.chunks),
      headerTerms: headerTermsOf(part.chunks),
    })),
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

/** The postings that one segment has of the wanted terms. */
export interface SegmentPostings {
  readonly list: SegmentChunks;
  /** Packed postings by term. */
  readonly byTerm: ReadonlyMap<string, Buffer>;
}

/**
 * Returns the segments of the space, with their postings of the terms; none if there are no terms. Includes
 * postings of hidden runs, which the caller leaves out.
 */
export async function readPostings(
  sql: Sql,
  { spaceNum }: Pick<SearchScope, "spaceNum">,
  terms: readonly string[],
): Promise<SegmentPostings[]> {
  if (terms.length === 0) return [];
  const known = knownLists(spaceNum);
  const rows = await readBlocks(sql, spaceNum, { terms: [...new Set(terms)], known: [...known.keys()] });
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
