/** The only place that computes BM25, Lucene's variant (Kamphuis et al. 2020): over all live chunks of a space, in this process. */
import type { Sql } from "../db/pool.ts";
import type { PostingList } from "../db/search/posting-blocks.ts";
import { readPostings } from "../db/search/postings.ts";
import type { ChunkKey, SearchScope } from "../db/search/scope.ts";
import type { QueryWord } from "./analyzer.ts";
import { type ChunkSet, createChunkSet } from "./chunk-set.ts";
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

/**
 * The terms of the words that the space has, each with its word's weight: a word is as frequent as all its terms together,
 * since a chunk is in one language and has one of them.
 */
function weigh(chunks: number, words: readonly QueryWord[], postings: ReadonlyMap<string, PostingList>): WeightedTerm[] {
  const weights = new Map<string, number>();
  for (const word of words) {
    const df = word.terms.reduce((sum, term) => sum + (postings.get(term)?.size ?? 0), 0);
    const weight = word.weight * inverseDocumentFrequency(chunks, df);
    for (const term of word.terms) if (postings.has(term)) weights.set(term, (weights.get(term) ?? 0) + weight);
  }
  return [...weights].map(([term, weight]) => ({ term, weight }));
}

/**
 * Scores every chunk of the scope that has a word of the query: sum(weight * tf / (tf + k1 * (1 - b + b * length / average))). Frequencies
 * are counted from live postings of the whole space; filters of a search do not change them.
 */
export async function scoreSparse(sql: Sql, scope: SearchScope, words: readonly QueryWord[]): Promise<SparseScores> {
  const postings = await readPostings(
    sql,
    scope,
    words.flatMap((word) => word.terms),
  );
  const terms = weigh(scope.chunks, words, postings);
  const average = scope.chunks > 0 && scope.terms > 0 ? scope.terms / scope.chunks : 1;
  const runs = scope.runs === null ? null : new Set(scope.runs);
  const scores = createChunkSet([...postings.values()].reduce((sum, list) => Math.max(sum, list.size), 0));
  for (const { term, weight } of terms) addScores(scores, postings.get(term)!, { weight, average, runs });
  return {
    terms,
    best: (conditions, limit) => bestOf(scores, conditions, limit),
    of: (key) => scores.get(key.run_num, key.chunk_index),
  };
}

function addScores(scores: ChunkSet, list: PostingList, { weight, average, runs }: { weight: number; average: number; runs: ReadonlySet<number> | null }): void {
  const fixed = K1 * (1 - B);
  const perTerm = (K1 * B) / average;
  for (let at = 0; at < list.size; at++) {
    const run = list.runs[at]!;
    if (runs !== null && !runs.has(run)) continue;
    const count = list.counts[at]!;
    scores.add(run, list.chunks[at]!, (weight * count) / (count + fixed + perTerm * list.lengths[at]!));
  }
}

const isBefore = (one: SparseCandidate, other: SparseCandidate): boolean =>
  one.bm25 !== other.bm25 ? one.bm25 > other.bm25 : one.run_num !== other.run_num ? one.run_num < other.run_num : one.chunk_index < other.chunk_index;

/** Keeps the `limit` best in order; most of what comes is worse than the last of them. */
function bestOf(scores: ChunkSet, { required, excluded }: ChunkConditions, limit: number): SparseCandidate[] {
  const best: SparseCandidate[] = [];
  scores.each((run_num, chunk_index, bm25) => {
    if (best.length >= limit && bm25 < best.at(-1)!.bm25) return;
    const found = { run_num, chunk_index, bm25 };
    if (best.length >= limit && !isBefore(found, best.at(-1)!)) return;
    if (required !== null && !required.has(run_num, chunk_index)) return;
    if (excluded.has(run_num, chunk_index)) return;
    let low = 0;
    for (let high = best.length; low < high;) {
      const middle = (low + high) >>> 1;
      if (isBefore(best[middle]!, found)) low = middle + 1;
      else high = middle;
    }
    best.splice(low, 0, found);
    if (best.length > limit) best.pop();
  });
  return best;
}
