/** Ranks chunks for a question in memory: Lucene's BM25 over the terms of the sparse index. */
import { analyze, analyzeQuery } from "../../../src/search/text/analyzer.ts";

const K1 = 1.2;
const B = 0.75;

/** Returns the numbers of the texts that have a word of the question, best first. */
export type Ranking = (question: string, limit: number) => number[];

export function rankingOf(texts: readonly string[]): Ranking {
  const postings = new Map<string, Map<number, number>>();
  const lengths = texts.map((text, number) => {
    const { terms } = analyze(text);
    for (const term of terms) {
      const ofTerm = postings.get(term) ?? new Map<number, number>();
      postings.set(term, ofTerm.set(number, (ofTerm.get(number) ?? 0) + 1));
    }
    return terms.length;
  });
  const mean = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
  return (question, limit) => {
    const scores = new Map<number, number>();
    for (const { terms, weight } of analyzeQuery(question)) {
      const frequencies = new Map<number, number>();
      for (const term of terms)
        for (const [number, count] of postings.get(term) ?? [])
          frequencies.set(number, (frequencies.get(number) ?? 0) + count);
      const rarity = Math.log(1 + (texts.length - frequencies.size + 0.5) / (frequencies.size + 0.5));
      for (const [number, count] of frequencies) {
        const saturated = count / (count + K1 * (1 - B + (B * lengths[number]!) / mean));
        scores.set(number, (scores.get(number) ?? 0) + weight * rarity * saturated);
      }
    }
    const ordered = [...scores].toSorted(([one, left], [other, right]) => right - left || one - other);
    return ordered.slice(0, limit).map(([number]) => number);
  };
}
