/** What became of each delivery to a webhook, and how to ask for one again. */
import { redeliverEvent } from "../../../commands/webhooks/redeliver-event.ts";
import { replayEvents } from "../../../commands/webhooks/replay-events.ts";
import { testWebhook } from "../../../commands/webhooks/test-webhook.ts";
import { authorizeWebhook } from "../../../commands/webhooks/webhook.ts";
import { readTenant } from "../../../db/pool.ts";
import { listDeliveries } from "../../../db/webhooks/deliveries.ts";
import { findWebhook } from "../../../db/webhooks/records.ts";
import { WebhookId } from "../../../schema/ids.ts";
import {
  WebhookDelivery,
  WebhookDeliveryPage,
  WebhookDeliveryQuery,
  WebhookReplay,
  WebhookReplayCreate,
  WebhookTest,
} from "../../../schema/webhook.ts";
import type { Repeat } from "../../idempotency.ts";
import { defineRoute } from "../../route.ts";

const postTest = defineRoute("POST /webhooks/:webhook_id/test", {
  operation: "webhooks.test",
  access: "jwt",
  audit: { action: "webhooks:test", resource: "webhook" },
  status: 202,
  summary: "Send a `webhook.test` event to this webhook, regardless of its types.",
  description: "400 if the webhook is not active. What becomes of it is among the deliveries.",
  response: WebhookTest,
  errors: [400],
  async handle({ deps, caller, params }) {
    await testWebhook(deps, caller, { id: params.webhook_id });
    return { webhook_id: params.webhook_id, event_type: "webhook.test", status: "queued" } as const;
  },
});

const getDeliveries = defineRoute("GET /webhooks/:webhook_id/deliveries", {
  operation: "webhooks.deliveries",
  access: "jwt",
  audit: { action: "webhooks:read", resource: "webhook" },
  summary: "List the deliveries of a webhook, newest first.",
  description: "They are kept as long as events are. None holds what was sent or answered.",
  query: WebhookDeliveryQuery,
  response: WebhookDeliveryPage,
  handle: async ({ principal, read, params, query }) =>
    read(async (sql) => {
      const webhook = await findWebhook(sql, principal.organization.id, params.webhook_id);
      authorizeWebhook(principal, webhook);
      const { items, next } = await listDeliveries(sql, {
        webhookId: webhook.id,
        status: query.status ?? null,
        eventType: query.event_type ?? null,
        after: query.after ?? null,
        limit: query.limit,
      });
      return { items, next_cursor: next };
    }),
});

const postRedelivery = defineRoute("POST /webhooks/:webhook_id/deliveries/:delivery_id/redeliver", {
  operation: "webhooks.redeliver",
  access: "jwt",
  audit: { action: "webhooks:redeliver", resource: "webhook" },
  status: 202,
  summary: "Redeliver an event with the same `webhook-id`.",
  description: "400 if the webhook is not active, 410 if the event is no longer kept.",
  response: WebhookDelivery,
  errors: [400, 410],
  handle: async ({ deps, caller, params }) =>
    redeliverEvent(deps, caller, { webhookId: params.webhook_id, deliveryId: params.delivery_id }),
});

/** Even a refusal is repeated only for a caller who may manage the webhook. */
async function mayRepeat({ deps, principal, params }: Repeat): Promise<void> {
  const id = WebhookId.parse(params["webhook_id"]);
  const webhook = await readTenant(deps.db, principal.organization, (sql) =>
    findWebhook(sql, principal.organization.id, id),
  );
  authorizeWebhook(principal, webhook);
}

const postReplay = defineRoute("POST /webhooks/:webhook_id/replay", {
  operation: "webhooks.replay",
  access: "jwt",
  audit: { action: "webhooks:replay", resource: "webhook" },
  status: 202,
  summary: "Redeliver the events of a period, including any the webhook never received.",
  description:
    "Each has the same `webhook-id` as before. At most 3 replays of a webhook are under way at once (400); " +
    "410 if `from` is before the oldest event that is kept.",
  body: WebhookReplayCreate,
  response: WebhookReplay,
  idempotent: mayRepeat,
  errors: [400, 410],
  handle: async ({ deps, caller, params, body }) =>
    replayEvents(deps, caller, {
      webhookId: params.webhook_id,
      from: body.from,
      to: body.to ?? null,
      types: body.types ?? [],
    }),
});

export const webhookDeliveryRoutes = [postTest, getDeliveries, postRedelivery, postReplay];
