/** The messages between a deletion's workflow and its activity. */

export interface DeletionInput {
  readonly organization: { readonly id: string; readonly num: number };
  readonly deletionId: string;
}

export interface PurgeOutcome {
  readonly purged: number;
  /** True if a read found nothing left. */
  readonly done: boolean;
}
