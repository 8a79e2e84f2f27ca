/** What the workflow that tends search indexes and its activities tell one another. */

export interface SpaceInput {
  readonly organization: { readonly id: string; readonly num: number };
  readonly spaceNum: number;
}

/** Spaces of one round; what is left is due in the next. */
export const SPACES_A_ROUND = 200;

/**
 * Numbers (vectors times dimensions) of a space from which on an index is worth it: 20,000 vectors of 384 dimensions, which a scan reads in
 * some 20 ms. Below, a scan is as fast and misses nothing.
 */
export const VECTOR_INDEX_NUMBERS = 20_000 * 384;
