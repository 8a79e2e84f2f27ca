/** What a deletion's workflow and its activity tell one another: ids and counts. */

export interface DeletionInput {
  readonly organization: { readonly id: string; readonly num: number };
  readonly deletionId: string;
}

export interface PurgeOutcome {
  readonly purged: number;
  /** True once a read found nothing left. */
  readonly done: boolean;
}
