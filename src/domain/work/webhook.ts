/** What a workflow that delivers the events of one endpoint is given. */

export interface WebhookInput {
  readonly organization: { readonly id: string; readonly num: number };
  readonly webhookId: string;
}
