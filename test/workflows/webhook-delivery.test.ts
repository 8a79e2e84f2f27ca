/** The workflow of an endpoint under a simulated clock. */
import { expect, test } from "vitest";
import { WAKE_WEBHOOK, type WebhookInput, type WebhookStep } from "../../src/domain/work/webhook.ts";
import { webhookDelivery } from "../../src/workflows/webhook-delivery.ts";
import { ContinuedAsNew, virtualWorkflow } from "../support/workflows/virtual-workflow.ts";

const INPUT: WebhookInput = { organization: { id: "an organization", num: 1 }, webhookId: "a webhook" };

/** Answers of the activity, one for each call; the last one again and again. */
function answering(steps: readonly WebhookStep[]) {
  let calls = 0;
  return {
    activities: { deliverWebhook: async () => steps[Math.min(calls++, steps.length - 1)] },
    calls: () => calls,
  };
}

test("it goes on at once while there is more, and ends at rest", async () => {
  const activity = answering([{ state: "again" }, { state: "again" }, { state: "rest" }]);
  const workflow = virtualWorkflow(activity);
  await webhookDelivery(INPUT);
  expect([activity.calls(), workflow.sleptMs()]).toEqual([3, 0]);
});

test("it waits until the next attempt is due", async () => {
  const activity = answering([{ state: "waiting", waitMs: 5_000 }, { state: "rest" }]);
  const workflow = virtualWorkflow(activity);
  await webhookDelivery(INPUT);
  expect([activity.calls(), workflow.sleptMs()]).toEqual([2, 5_000]);
});

test("a signal during the activity leads to another one, although that one saw nothing to do", async () => {
  let calls = 0;
  const workflow = virtualWorkflow({
    activities: {
      deliverWebhook: async () => {
        calls += 1;
        if (calls === 1) workflow.signal(WAKE_WEBHOOK);
        return { state: "rest" };
      },
    },
  });
  await webhookDelivery(INPUT);
  expect(calls).toBe(2);
});

test("a signal during the activity ends the wait before it begins", async () => {
  let calls = 0;
  const workflow = virtualWorkflow({
    activities: {
      deliverWebhook: async () => {
        calls += 1;
        if (calls > 1) return { state: "rest" };
        workflow.signal(WAKE_WEBHOOK);
        return { state: "waiting", waitMs: 3_600_000 };
      },
    },
  });
  await webhookDelivery(INPUT);
  expect([calls, workflow.sleptMs()]).toEqual([2, 0]);
});

test("with a long history it continues as new, and not while there is nothing left", async () => {
  const info = { continueAsNewSuggested: true };
  virtualWorkflow({ ...answering([{ state: "waiting", waitMs: 5_000 }]), info });
  await expect(webhookDelivery(INPUT)).rejects.toEqual(new ContinuedAsNew([INPUT]));
  virtualWorkflow({ ...answering([{ state: "rest" }]), info });
  await expect(webhookDelivery(INPUT)).resolves.toBeUndefined();
});
