/** The only place that computes BM25, Lucene's variant (Kamphuis et al. 2020): over all live chunks of a space, in this process. */
import type { Sql } from "../db/pool.ts";
import { type SegmentChunks, addScores, countPostings } from "../db/search/index/posting-blocks.ts";
import { type SegmentPostings, readPostings } from "../db/search/index/postings.ts";
import type { ChunkKey, SearchScope } from "../db/search/scope.ts";
import { createTimeSlice } from "../db/search/time-slice.ts";
import type { QueryWord } from "./text/analyzer.ts";
import type { ChunkConditions } from "./conditions.ts";

const K1 = 1.2;
const B = 0.75;

interface WeightedTerm {
  readonly term: string;
  /** Inverse document frequency, times how much the query wants the term. */
  readonly weight: number;
}

interface SparseCandidate extends ChunkKey {
  readonly bm25: number;
}

/** What the sparse side has for a query. */
export interface SparseScores {
  /** The terms of the query that the space has. */
  readonly terms: readonly WeightedTerm[];
  /** The `limit` best chunks that the conditions let through, best first; equal ones by run and index. */
  best(conditions: ChunkConditions, limit: number): SparseCandidate[];
  /** BM25 of a chunk; null where it has none of the terms. */
  of(key: ChunkKey): number | null;
}

/** ln(1 + (N - df + 0.5) / (df + 0.5)); never negative. */
function inverseDocumentFrequency(chunks: number, df: number): number {
  return Math.log(1 + Math.max(0, chunks - df + 0.5) / (df + 0.5));
}

/** A 1 for each place of the list whose run is let through; null where all are. */
export function maskOf(
  { runs }: SegmentChunks,
  isLetThrough: ((run: number) => boolean) | null,
): Uint8Array | null {
  if (isLetThrough === null) return null;
  const mask = new Uint8Array(runs.length);
  let [before, verdict, isNarrowing] = [-1, 0, false];
  for (let place = 0; place < runs.length; place++) {
    const run = runs[place]!;
    if (run !== before) [before, verdict] = [run, isLetThrough(run) ? 1 : 0];
    mask[place] = verdict;
    isNarrowing ||= verdict === 0;
  }
  return isNarrowing ? mask : null;
}

/** Whether a run is seen by anybody; null where all are. */
function liveRuns({ hiddenRuns }: Pick<SearchScope, "hiddenRuns">): ((run: number) => boolean) | null {
  if (hiddenRuns.length === 0) return null;
  const hidden = new Set(hiddenRuns);
  return (run) => !hidden.has(run);
}

/** Whether a run is seen by the search; null where all are. */
export function visibleRuns(scope: SearchScope): ((run: number) => boolean) | null {
  const isLive = liveRuns(scope);
  if (scope.runs === null) return isLive;
  const runs = new Set(scope.runs);
  return (run) => runs.has(run) && (isLive === null || isLive(run));
}

async function documentFrequencies(
  segments: readonly SegmentPostings[],
  isLive: ((run: number) => boolean) | null,
): Promise<Map<string, number>> {
  const frequencies = new Map<string, number>();
  const endOfSlice = createTimeSlice();
  for (const { list, byTerm } of segments) {
    const live = maskOf(list, isLive);
    for (const [term, block] of byTerm)
      frequencies.set(term, (frequencies.get(term) ?? 0) + countPostings(block, live));
    await endOfSlice();
  }
  return frequencies;
}

/**
 * The terms of the words that the space has, each with its word's weight: a word is as frequent as all its terms together,
 * since a chunk is in one language and has one of them.
 */
function weigh(
  chunks: number,
  words: readonly QueryWord[],
  frequencies: ReadonlyMap<string, number>,
): WeightedTerm[] {
  const weights = new Map<string, number>();
  for (const word of words) {
    const df = word.terms.reduce((sum, term) => sum + (frequencies.get(term) ?? 0), 0);
    const weight = word.weight * inverseDocumentFrequency(chunks, df);
    for (const term of word.terms)
      if ((frequencies.get(term) ?? 0) > 0) weights.set(term, (weights.get(term) ?? 0) + weight);
  }
  return [...weights].map(([term, weight]) => ({ term, weight }));
}

interface ScoredSegment {
  readonly list: SegmentChunks;
  /** By place; 0 where the chunk has none of the terms or is not seen. */
  readonly scores: Float64Array;
}

/**
 * Scores every chunk of the scope that has a word of the query: sum(weight * tf / (tf + k1 * (1 - b + b * length / average))). Frequencies
 * are counted from live postings of the whole space; filters of a search do not change them.
 */
export async function scoreSparse(
  sql: Sql,
  scope: SearchScope,
  words: readonly QueryWord[],
): Promise<SparseScores> {
  const segments = await readPostings(
    sql,
    scope,
    words.flatMap((word) => word.terms),
  );
  const terms = weigh(scope.chunks, words, await documentFrequencies(segments, liveRuns(scope)));
  const scored = await scoreSegments(segments, scope, terms);
  return {
    terms,
    best: (conditions, limit) => bestOf(scored, conditions, limit),
    of: (key) => scoreOf(scored, key),
  };
}

async function scoreSegments(
  segments: readonly SegmentPostings[],
  scope: SearchScope,
  terms: readonly WeightedTerm[],
): Promise<ScoredSegment[]> {
  const average = scope.chunks > 0 && scope.terms > 0 ? scope.terms / scope.chunks : 1;
  const [fixed, perTerm, isVisible] = [K1 * (1 - B), (K1 * B) / average, visibleRuns(scope)];
  const scored: ScoredSegment[] = [];
  const endOfSlice = createTimeSlice();
  for (const { list, byTerm } of segments) {
    const visible = maskOf(list, isVisible);
    const scores = new Float64Array(list.runs.length);
    for (const { term, weight } of terms) {
      const block = byTerm.get(term);
      if (block === undefined) continue;
      addScores(block, list.lengths, scores, { weight, fixed, perTerm, visible });
    }
    scored.push({ list, scores });
    await endOfSlice();
  }
  return scored;
}

/** Null where the chunk has none of the terms or is not seen. */
function scoreOf(scored: readonly ScoredSegment[], { run_num, chunk_index }: ChunkKey): number | null {
  for (const { list, scores } of scored) {
    let low = 0;
    for (let high = list.runs.length; low < high;) {
      const middle = (low + high) >>> 1;
      const isBefore =
        list.runs[middle]! < run_num || (list.runs[middle] === run_num && list.chunks[middle]! < chunk_index);
      if (isBefore) low = middle + 1;
      else high = middle;
    }
    if (list.runs[low] === run_num && list.chunks[low] === chunk_index)
      return scores[low]! > 0 ? scores[low]! : null;
  }
  return null;
}

const isBefore = (one: SparseCandidate, other: SparseCandidate): boolean =>
  one.bm25 !== other.bm25
    ? one.bm25 > other.bm25
    : one.run_num !== other.run_num
      ? one.run_num < other.run_num
      : one.chunk_index < other.chunk_index;

/** Keeps the `limit` best in order; most of what comes is worse than the last of them. */
function bestOf(
  scored: readonly ScoredSegment[],
  { required, excluded }: ChunkConditions,
  limit: number,
): SparseCandidate[] {
  const best: SparseCandidate[] = [];
  // No score of 0 passes.
  let least = Number.MIN_VALUE;
  for (const { list, scores } of scored) {
    for (let place = 0; place < scores.length; place++) {
      const bm25 = scores[place]!;
      if (bm25 < least) continue;
      const found = { run_num: list.runs[place]!, chunk_index: list.chunks[place]!, bm25 };
      if (best.length >= limit && !isBefore(found, best.at(-1)!)) continue;
      if (required !== null && !required.has(found.run_num, found.chunk_index)) continue;
      if (excluded.has(found.run_num, found.chunk_index)) continue;
      insert(best, found);
      if (best.length > limit) best.pop();
      if (best.length === limit) least = best.at(-1)!.bm25;
    }
  }
  return best;
}

function insert(best: SparseCandidate[], found: SparseCandidate): void {
  let low = 0;
  for (let high = best.length; low < high;) {
    const middle = (low + high) >>> 1;
    if (isBefore(best[middle]!, found)) low = middle + 1;
    else high = middle;
  }
  best.splice(low, 0, found);
}
