/** The only place that makes one score of a chunk's dense and sparse relevance. */

/** Constants of an embedding model. */
export interface FusionConstants {
  /** Weight of the dense side, 0 to 1. */
  readonly alpha: number;
  /** The BM25 score that counts half of its side. */
  readonly bm25Saturation: number;
}

export interface Relevance {
  /** -1 to 1; null where the chunk has no vector of the query's model. */
  readonly cosine: number | null;
  /** Null where the chunk has no term of the query. */
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
 * alpha * max(cosine, 0) + (1 - alpha) * bm25 / (bm25 + saturation): a convex combination that takes nothing from other
 * candidates, so that scores compare across queries. As good as normalising by the candidates, and better than reciprocal ranks.
 */
export function fuse({ cosine, bm25 }: Relevance, { alpha, bm25Saturation }: FusionConstants): Scores {
  const dense = cosine === null ? null : alpha * Math.min(1, Math.max(0, cosine));
  const sparse = bm25 === null ? null : (1 - alpha) * (bm25 / (bm25 + bm25Saturation));
  return { score: (dense ?? 0) + (sparse ?? 0), dense_score: dense, sparse_score: sparse };
}
