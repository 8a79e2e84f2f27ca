/** Measures rankings against judgements: nDCG@10, recall@100 and MRR@10. */

/** Hits of a ranking that count. */
export const DEPTH = 100;

export interface Measures {
  ndcg: number;
  recall: number;
  mrr: number;
}

/** @param ranking documents, best first @param grades the judged documents of the query */
export function measure(ranking: readonly string[], grades: ReadonlyMap<string, number>): Measures {
  const gain = (grade: number, rank: number): number => grade / Math.log2(rank + 2);
  const relevant = [...grades.values()].filter((grade) => grade > 0).toSorted((one, other) => other - one);
  const ideal = relevant.slice(0, 10).reduce((sum, grade, rank) => sum + gain(grade, rank), 0);
  const found = ranking.slice(0, 10).reduce((sum, id, rank) => sum + gain(grades.get(id) ?? 0, rank), 0);
  const first = ranking.slice(0, 10).findIndex((id) => (grades.get(id) ?? 0) > 0);
  return {
    ndcg: found / ideal,
    recall: ranking.slice(0, DEPTH).filter((id) => (grades.get(id) ?? 0) > 0).length / relevant.length,
    mrr: first === -1 ? 0 : 1 / (first + 1),
  };
}

/** The mean of one measure over all questions; NaN if there is none. */
export function meanOf(all: readonly Measures[], key: keyof Measures): number {
  return all.reduce((sum, one) => sum + one[key], 0) / all.length;
}
