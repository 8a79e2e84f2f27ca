/** The workflow of an endpoint: delivers events while there are some, and waits for the next attempt. */
import {
  condition,
  continueAsNew,
  defineSignal,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import { WAKE_WEBHOOK, type WebhookInput } from "../domain/work/webhook.ts";
import { webhooks } from "./proxies.ts";

const wake = defineSignal(WAKE_WEBHOOK);

/**
 * What is to be delivered is in the database; the workflow only carries on until an activity reports that
 * nothing is left, and ends. New events start it again, under the same id.
 */
export async function webhookDelivery(input: WebhookInput): Promise<void> {
  let isWoken = false;
  setHandler(wake, () => {
    isWoken = true;
  });
  for (;;) {
    isWoken = false;
    const step = await webhooks.deliverWebhook(input);
    // A signal that came during the activity may tell of something that it did not see.
    if (step.state === "rest" && !isWoken) break;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof webhookDelivery>(input);
    if (step.state !== "waiting" || isWoken) continue;
    upsertSearchAttributes({ Stage: ["waiting"] });
    setCurrentDetails("waits for the next attempt of what has failed");
    await condition(() => isWoken, step.waitMs);
    upsertSearchAttributes({ Stage: ["delivering"] });
    setCurrentDetails("delivers");
  }
  upsertSearchAttributes({ Outcome: ["completed"], Stage: ["done"] });
}
