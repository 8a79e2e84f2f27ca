/** Gauges that show whether events stay unseen: those without a position, and what endpoints wait for. */
import { countWebhooksByStatus, readOldestDue, readOldestUnplaced } from "../db/events/lag.ts";
import type { Database } from "../db/pool.ts";
import type { Metrics, Sample } from "../telemetry/metrics.ts";

export function measureEvents(metrics: Metrics, db: Pick<Database, "system">): void {
  const age = (read: () => Promise<number | null>) => async (): Promise<Sample[]> => [
    { labels: {}, value: (await read()) ?? 0 },
  ];
  metrics.gauge({
    name: "holdfast_oldest_unplaced_event_seconds",
    help:
      "Age of the oldest event that has no position yet and is therefore invisible to readers; 0 " +
      "if there is none.",
    labels: [],
    read: age(() => readOldestUnplaced(db.system)),
  });
  metrics.gauge({
    name: "holdfast_webhook_oldest_due_seconds",
    help: "Time since the oldest pending delivery to an active endpoint became due; 0 if there is none.",
    labels: [],
    read: age(() => readOldestDue(db.system)),
  });
  metrics.gauge({
    name: "holdfast_webhooks",
    help: "Webhook endpoints, by status and reason.",
    labels: ["status", "reason"],
    read: async () =>
      (await countWebhooksByStatus(db.system)).map(({ status, reason, webhooks }) => ({
        labels: { status, reason },
        value: webhooks,
      })),
  });
}
