/**
 * Computes BM25 over all live chunks of a space, in this process.
 *
 * @see Kamphuis et al., "Which BM25 Do You Mean?" (2020); this is Lucene's variant
 * @see docs/decisions/0004-packed-postings-bm25.md
 */
import type { Sql } from "../db/pool.ts";
import { type Scored, type SegmentChunks, addScores, countPostings } from "./index/posting-blocks.ts";
import { type SegmentPostings, readPostings } from "./index/postings.ts";
import type { ChunkKey, SearchScope } from "../db/search/scope.ts";
import { createTimeSlice } from "../process/time-slice.ts";
import type { QueryWord } from "./text/analyzer.ts";
import type { ChunkConditions } from "./chunk-set.ts";
import { liveRuns, maskOf, visibleRuns } from "./visibility.ts";

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

export interface SparseScores {
  /** The query's terms that any live chunk of the space has. */
  readonly terms: readonly WeightedTerm[];
  /** What no chunk's score reaches: the weights of all words of the space, added up. */
  readonly most: number;
  /** The same with the words that the space does not have, each as rare as can be. */
  readonly asked: number;
  /** How many words the query has, without function words. */
  readonly words: number;
  /** The `limit` best chunks that meet the conditions, best first; equal ones by run and index. */
  best(conditions: ChunkConditions, limit: number): SparseCandidate[];
  /** BM25 of a chunk; null if it has none of the terms or is not seen. */
  of(key: ChunkKey): number | null;
}

/** ln(1 + (N - df + 0.5) / (df + 0.5)); never negative. */
function inverseDocumentFrequency(chunks: number, df: number): number {
  return Math.log(1 + Math.max(0, chunks - df + 0.5) / (df + 0.5));
}

interface Counted {
  /** Live chunks that have each term. */
  readonly frequencies: ReadonlyMap<string, number>;
  /** Live passages of all segments. */
  readonly passages: number;
}

async function countLive(
  segments: readonly SegmentPostings[],
  isLive: ((run: number) => boolean) | null,
): Promise<Counted> {
  const frequencies = new Map<string, number>();
  let passages = 0;
  const endOfSlice = createTimeSlice();
  for (const { list, byTerm } of segments) {
    const live = maskOf(list, isLive);
    for (const [term, block] of byTerm)
      frequencies.set(term, (frequencies.get(term) ?? 0) + countPostings(block, live));
    passages += countPassages(list, live);
    await endOfSlice();
  }
  return { frequencies, passages };
}

/**
 * The terms that the space has, each with its word's weight. A word's frequency is that of all its terms
 * together, since a chunk is in one language and so has only one of them.
 */
function weigh(
  chunks: number,
  words: readonly QueryWord[],
  frequencies: ReadonlyMap<string, number>,
): Pick<SparseScores, "terms" | "most" | "asked"> {
  let most = 0;
  let asked = 0;
  const weights = new Map<string, number>();
  for (const word of words) {
    const df = word.terms.reduce((sum, term) => sum + (frequencies.get(term) ?? 0), 0);
    const weight = word.weight * inverseDocumentFrequency(chunks, df);
    asked += weight;
    if (df > 0) most += weight;
    for (const term of word.terms)
      if ((frequencies.get(term) ?? 0) > 0) weights.set(term, (weights.get(term) ?? 0) + weight);
  }
  return { terms: [...weights].map(([term, weight]) => ({ term, weight })), most, asked };
}

interface ScoredSegment {
  readonly list: SegmentChunks;
  /** By place in the list; 0 if the chunk has none of the terms or is not seen. */
  readonly scores: Float64Array;
}

/**
 * Scores every chunk of the scope that has a word of the query: the mean of its own BM25, sum(weight * tf /
 * (tf + k1 * (1 - b + b * length / average))), and that of its passage, in which a text that was cut between
 * two words of the query has both. A document of one chunk has its own BM25 alone. Frequencies and averages
 * are those of live chunks of the whole space; filters of a search do not change them.
 *
 * @see docs/decisions/0043-passages-around-chunks.md
 * @example `test/search/reference-rankings.database.test.ts`
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
  const { frequencies, passages } = await countLive(segments, liveRuns(scope));
  const { terms, most, asked } = weigh(scope.chunks, words, frequencies);
  const scored = await scoreSegments(segments, scope, { terms, passages });
  return {
    terms,
    most,
    asked,
    // A word with diacritics is two, of which one weighs less.
    words: words.filter((word) => word.weight >= 0.5).length,
    best: (conditions, limit) => bestOf(scored, conditions, limit),
    of: (key) => scoreOf(scored, key),
  };
}

function countPassages({ passages, passageLengths }: SegmentChunks, live: Uint8Array | null): number {
  if (live === null) return passageLengths.length;
  let counted = 0;
  for (let place = 0, before = -1; place < passages.length; place++) {
    if (passages[place] === before) continue;
    before = passages[place]!;
    counted += live[place]!;
  }
  return counted;
}

async function scoreSegments(
  segments: readonly SegmentPostings[],
  scope: SearchScope,
  { terms, passages }: { readonly terms: readonly WeightedTerm[]; readonly passages: number },
): Promise<ScoredSegment[]> {
  const perTermOf = (units: number): number =>
    (K1 * B) / (units > 0 && scope.terms > 0 ? scope.terms / units : 1);
  const scoring = {
    fixed: K1 * (1 - B),
    perTerm: perTermOf(scope.chunks),
    perPassageTerm: perTermOf(passages),
  };
  const isVisible = visibleRuns(scope);
  const found: ScoredSegment[] = [];
  const endOfSlice = createTimeSlice();
  for (const { list, byTerm } of segments) {
    if (byTerm.size === 0) continue;
    const visible = maskOf(list, isVisible);
    const scored: Scored = {
      chunks: new Float64Array(list.runs.length),
      passages: new Float64Array(list.passageLengths.length),
    };
    for (const { term, weight } of terms) {
      const block = byTerm.get(term);
      if (block !== undefined) addScores(block, list, scored, { ...scoring, weight, visible });
    }
    found.push({ list, scores: meansOf(list, scored) });
    await endOfSlice();
  }
  return found;
}

/** The mean of each chunk's score and its passage's; 0 if the chunk has none of the terms. */
function meansOf({ passages }: SegmentChunks, scored: Scored): Float64Array {
  const { chunks } = scored;
  for (let place = 0; place < chunks.length; place++)
    if (chunks[place]! > 0) chunks[place] = (chunks[place]! + scored.passages[passages[place]!]!) / 2;
  return chunks;
}

/** By binary search in each list; null if the chunk has none of the terms or is not seen. */
function scoreOf(scored: readonly ScoredSegment[], { run_num, chunk_index }: ChunkKey): number | null {
  for (const { list, scores } of scored) {
    let low = 0;
    let high = list.runs.length;
    while (low < high) {
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

function isBefore(one: SparseCandidate, other: SparseCandidate): boolean {
  if (one.bm25 !== other.bm25) return one.bm25 > other.bm25;
  if (one.run_num !== other.run_num) return one.run_num < other.run_num;
  return one.chunk_index < other.chunk_index;
}

/** Keeps the `limit` best in order. Most chunks are worse than the last: one comparison is enough. */
function bestOf(
  scored: readonly ScoredSegment[],
  { required, excluded }: ChunkConditions,
  limit: number,
): SparseCandidate[] {
  const best: SparseCandidate[] = [];
  // Keeps out scores of 0.
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
  let high = best.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(best[middle]!, found)) low = middle + 1;
    else high = middle;
  }
  best.splice(low, 0, found);
}
