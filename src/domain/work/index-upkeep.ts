/** The messages between the workflow of index upkeep and its activities, and its limits. */

export interface SpaceInput {
  readonly organization: { readonly id: string; readonly num: number };
  readonly spaceNum: number;
}

/** How many spaces one round takes; the rest are due in the next. */
export const SPACES_A_ROUND = 200;

/**
 * From how many numbers (vectors times dimensions) a space gets an approximate index: 20,000 vectors of 384
 * dimensions, which a scan reads in some 20 ms. A scan of fewer is as fast, and exact.
 */
export const VECTOR_INDEX_NUMBERS = 20_000 * 384;
