/** Starts the workflows of endpoints that have something to deliver. */
import type { Client } from "@temporalio/client";
import {
  type DueEndpoint,
  endWebhookLeases,
  takeDueEndpoints,
} from "../db/webhooks/delivery/due-endpoints.ts";
import { passOverEvents } from "../db/webhooks/delivery/pass-over.ts";
import type { Database } from "../db/pool.ts";
import type { Log } from "../process/log.ts";
import { drillPoint } from "../telemetry/drill-point.ts";
import { startWebhook } from "../temporal/start/webhook.ts";
import { type Coalesced, coalesce } from "../process/concurrency/coalesce.ts";

interface StartDeps {
  readonly db: Database;
  readonly client: Client;
  readonly log: Pick<Log, "warn">;
}

/** How many endpoints one statement takes, and how many workflows of an organization start side by side. */
const ENDPOINTS_A_TIME = 32;

/** Starts all due endpoints of an organization, one round at a time; null: of all organizations. */
export function createWebhookStarter(deps: StartDeps): Coalesced<string | null> {
  return coalesce(
    (organizationId) => organizationId ?? "",
    async (organizationId) => {
      try {
        await startAll(deps, organizationId);
      } catch (error) {
        deps.log.warn({ err: error, organization_id: organizationId }, "deliveries could not be started");
      }
    },
  );
}

async function startAll({ db, client }: StartDeps, organizationId: string | null): Promise<void> {
  await passOverEvents(db.system, organizationId);
  for (;;) {
    const taken = await takeDueEndpoints(db.system, organizationId, ENDPOINTS_A_TIME);
    if (taken.length > 0) await startEach(db, client, taken);
    if (taken.length < ENDPOINTS_A_TIME) return;
  }
}

/** @throws the first error of a start. */
async function startEach(db: Database, client: Client, taken: readonly DueEndpoint[]): Promise<void> {
  await drillPoint("webhookDelivery: events placed, endpoint not started");
  const outcomes = await Promise.allSettled(
    taken.map(async (endpoint) => {
      await startWebhook(client, endpoint, endpoint.spaceId);
      await drillPoint("webhookDelivery: workflow started, answer not seen");
    }),
  );
  const failed = taken.filter((_one, index) => outcomes[index]!.status === "rejected");
  await endWebhookLeases(
    db.system,
    failed.map(({ webhookId }) => webhookId),
  );
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}
