/** Combines the dense and the sparse relevance of a chunk into one score. */

/** Constants that were measured for an embedding model. */
export interface FusionConstants {
  /** Weight of the dense side, 0 to 1. */
  readonly alpha: number;
  /** A cosine that the best text for an answerable question nearly always exceeds; absent: unmeasured. */
  readonly unrelated?: number | undefined;
}

/**
 * The share of its weight that the dense side keeps even where the model knows nothing: it orders what has no
 * word of the query. From 0 to .1 rankings are the same within .003 nDCG@10.
 */
const LEAST_FIT = 0.04;

/**
 * The constants for texts of which the model knows as much as the least of `fits`, each 0 to 1: cosines of
 * what it does not know are noise, and have to say less.
 *
 * @see docs/decisions/0042-what-the-model-knows.md
 */
export function fitted({ alpha, unrelated }: FusionConstants, ...fits: readonly number[]): FusionConstants {
  const fit = Math.min(1, ...fits);
  return {
    alpha: alpha * Math.max(LEAST_FIT, fit),
    ...(unrelated === undefined ? {} : { unrelated: unrelated * fit }),
  };
}

/**
 * From this coverage on a text is about the question, whatever a model says; a text of usual length with each
 * word once has .45. Fewer words are a name or a code, of which a model knows nothing.
 */
const RELATED_COVERAGE = 0.4;
const LEAST_WORDS = 3;

/**
 * Whether even the best text is about something else. With the built-in model that is so for less than one in
 * a hundred English questions that have an answer.
 * @param best.coverage of all words of the question, those included that no text has.
 * @param best.words of the question, without function words.
 * @see docs/decisions/0039-quotes-without-a-language-model.md
 */
export function isUnrelated(
  best: { readonly cosine: number; readonly coverage: number; readonly words: number },
  { unrelated = -1 }: FusionConstants,
): boolean {
  return best.cosine < unrelated && best.coverage < RELATED_COVERAGE && best.words >= LEAST_WORDS;
}

export interface Relevance {
  /** -1 to 1; null if the chunk has no vector of the query's model. */
  readonly cosine: number | null;
  /** Its BM25 as a share of the most that the query gives in the space, 0 to 1; null without any term. */
  readonly coverage: number | null;
}

export interface Scores {
  /** The sum of the two shares, 0 to 1. */
  readonly score: number;
  /** 0 to alpha. */
  readonly dense_score: number | null;
  /** 0 to 1 - alpha. */
  readonly sparse_score: number | null;
}

/** The coverage at which the sparse side reaches half of its weight; from .25 to .4 it does not matter. */
const HALF = 0.35;
/** Above 1, chunks with few of the words count less than in proportion; from 1 to 2 it does not matter. */
const STEEPNESS = 1.5;

/**
 * alpha * max(cosine, 0) + (1 - alpha) * c^p / (c^p + h^p), where c is the coverage: a convex combination
 * that does not depend on other candidates, so scores can be compared across queries, short and long ones.
 * Measured as good as normalising by the candidates, and better than reciprocal rank fusion.
 * @see https://arxiv.org/abs/2210.11934 (Bruch, Gai and Ingber, "An analysis of fusion functions for hybrid
 * retrieval")
 * @example `test/domain/fusion.test.ts`
 */
export function fuse({ cosine, coverage }: Relevance, { alpha }: FusionConstants): Scores {
  const dense = cosine === null ? null : alpha * Math.min(1, Math.max(0, cosine));
  const sparse = coverage === null ? null : (1 - alpha) * sparseShare(Math.min(1, Math.max(0, coverage)));
  return { score: (dense ?? 0) + (sparse ?? 0), dense_score: dense, sparse_score: sparse };
}

function sparseShare(coverage: number): number {
  const raised = coverage ** STEEPNESS;
  return raised / (raised + HALF ** STEEPNESS);
}
