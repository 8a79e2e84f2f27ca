/** Combines the dense and the sparse relevance of a chunk into one score. */

/** Constants that were measured for an embedding model. */
export interface FusionConstants {
  /** Weight of the dense side, 0 to 1. */
  readonly alpha: number;
  /** The BM25 score at which the sparse side reaches half of its weight. */
  readonly bm25Saturation: number;
}

/**
 * The share of its weight that the dense side keeps even where the model knows nothing: it orders what has no
 * word of the query. From 0 to .1 rankings are the same within .003 nDCG@10.
 */
const LEAST_FIT = 0.04;

/**
 * The constants for texts of which the model knows as much as the least of `fits`, each 0 to 1: cosines of what
 * it does not know are noise, and have to say less.
 *
 * @see docs/decisions/0042-what-the-model-knows.md
 */
export function fitted(constants: FusionConstants, ...fits: readonly number[]): FusionConstants {
  return { ...constants, alpha: constants.alpha * Math.max(LEAST_FIT, Math.min(1, ...fits)) };
}

export interface Relevance {
  /** -1 to 1; null if the chunk has no vector of the query's model. */
  readonly cosine: number | null;
  /** Null if the chunk contains no term of the query. */
  readonly bm25: number | null;
}

export interface Scores {
  /** The sum of the two shares, 0 to 1. */
  readonly score: number;
  /** 0 to alpha. */
  readonly dense_score: number | null;
  /** 0 to 1 - alpha. */
  readonly sparse_score: number | null;
}

/**
 * alpha * max(cosine, 0) + (1 - alpha) * bm25 / (bm25 + saturation): a convex combination that does not
 * depend on other candidates, so scores can be compared across queries. Measured as good as normalising by
 * the candidates, and better than reciprocal rank fusion.
 * @see https://arxiv.org/abs/2210.11934 (Bruch, Gai and Ingber, "An analysis of fusion functions for hybrid
 * retrieval")
 * @example `test/domain/fusion.test.ts`
 */
export function fuse({ cosine, bm25 }: Relevance, { alpha, bm25Saturation }: FusionConstants): Scores {
  const dense = cosine === null ? null : alpha * Math.min(1, Math.max(0, cosine));
  const sparse = bm25 === null ? null : (1 - alpha) * (bm25 / (bm25 + bm25Saturation));
  return { score: (dense ?? 0) + (sparse ?? 0), dense_score: dense, sparse_score: sparse };
}
