/** What the workflow that tends search indexes and its activities tell one another. */

export interface SpaceInput {
  readonly organization: { readonly id: string; readonly num: number };
  readonly spaceNum: number;
}

/** Spaces of one round; what is left is due in the next. */
export const SPACES_A_ROUND = 200;
