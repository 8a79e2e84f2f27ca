/** The messages between the workflow that delivers the events of one endpoint and its activity. */

export interface WebhookInput {
  readonly organization: { readonly id: string; readonly num: number };
  readonly webhookId: string;
}

/** What is left to do after an activity. */
export type WebhookStep =
  /** Nothing: new events start the workflow again. */
  | { readonly state: "rest" }
  /** More of the same, at once. */
  | { readonly state: "again" }
  /** Nothing before the next attempt is due, unless new events come. */
  | { readonly state: "waiting"; readonly waitMs: number };

/** The signal that says that there is something to do. */
export const WAKE_WEBHOOK = "wake";
