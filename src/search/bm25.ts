/** The only place that says how much each term of a query weighs: BM25's inverse document frequency. */
import { type WeightedTerm, countDocumentFrequencies } from "../db/search/postings.ts";
import type { SearchScope } from "../db/search/scope.ts";
import type { Sql } from "../db/pool.ts";
import type { QueryWord } from "./analyzer.ts";

/** ln(1 + (N - df + 0.5) / (df + 0.5)), Lucene's variant; never negative. */
function inverseDocumentFrequency(chunks: number, df: number): number {
  return Math.log(1 + Math.max(0, chunks - df + 0.5) / (df + 0.5));
}

/**
 * The terms of the words that the space has, each with its word's weight: a word is as frequent as all its terms together,
 * since a chunk is in one language and has one of them.
 */
export async function weighWords(sql: Sql, scope: SearchScope, words: readonly QueryWord[]): Promise<WeightedTerm[]> {
  const terms = [...new Set(words.flatMap((word) => word.terms))];
  if (terms.length === 0) return [];
  const counts = await countDocumentFrequencies(sql, scope, terms);
  const frequency = new Map(terms.map((term, index) => [term, counts[index]!]));
  const weights = new Map<string, number>();
  for (const word of words) {
    const df = word.terms.reduce((sum, term) => sum + frequency.get(term)!, 0);
    const weight = word.weight * inverseDocumentFrequency(scope.chunks, df);
    for (const term of word.terms) if (frequency.get(term)! > 0) weights.set(term, (weights.get(term) ?? 0) + weight);
  }
  return [...weights].map(([term, weight]) => ({ term, weight }));
}
