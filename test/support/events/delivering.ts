/** Endpoints, events and the activity that delivers them, in a database of tests without a Temporal. */
import { createSecretKey, randomBytes } from "node:crypto";
import { type Context, asyncLocalStorage } from "@temporalio/activity";
import { deliverWebhook } from "../../../src/activities/webhooks/deliver.ts";
import { placeEvents } from "../../../src/db/events/place.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { newId } from "../../../src/domain/ids.ts";
import type { WebhookStep } from "../../../src/domain/work/webhook.ts";
import { createPoster } from "../../../src/outbound/poster.ts";
import type { Keyring } from "../../../src/storage/keys/keyring.ts";
import { webhookDelivery } from "../../../src/workflows/webhook-delivery.ts";
import { makeOrganization, makeUser } from "../tenants/callers.ts";
import { virtualWorkflow } from "../workflows/virtual-workflow.ts";
import type { OwnedDatabase } from "../servers/database.ts";
import { type EndpointFields, makeEndpoint, newSecret } from "./endpoints.ts";

const KEY = { id: newId(), secret: createSecretKey(randomBytes(32)) };
const keyring: Keyring = { current: async () => KEY, byId: async () => KEY, forget: () => undefined };

interface EventFields {
  readonly spaceId?: string | null;
  readonly resourceId?: string;
  readonly audience?: string;
  readonly spaceIds?: readonly string[];
  readonly listedIds?: readonly string[];
}

export interface DeliveryRow {
  readonly event_type: string | null;
  readonly status: string;
  readonly attempts: number;
  readonly error_code: string | null;
  readonly http_status: number | null;
}

/** An organization with an administrator, whose endpoints they are. */
export async function startDelivering(db: OwnedDatabase) {
  const organization: OrganizationRef = await makeOrganization(db);
  const maker = await makeUser(db, organization, { role: "admin" });
  const warnings: unknown[] = [];
  const poster = createPoster({ allowHosts: ["127.0.0.1"] });
  const deps = { db, keyring, poster, log: { warn: (fields: unknown) => void warnings.push(fields) } };
  const secret = newSecret();

  return {
    organization,
    maker,
    secret,
    warnings,

    endpoint: (fields: Pick<EndpointFields, "url" | "spaceId" | "types">): Promise<string> =>
      makeEndpoint(db, keyring, {
        organizationId: organization.id,
        createdBy: maker,
        secret,
        ...fields,
      }),

    /** Writes an event, by default of the organization, and places it. @returns its id. */
    async tell(type: string, fields: EventFields = {}): Promise<string> {
      const { rows } = await db.owner.query<{ id: string }>(
        `insert into events (
           organization_id, type, space_id, resource_type, resource_id, audience, space_ids, listed_ids, user_id
         )
         values ($1, $2, $3, split_part($2, '.', 1), $4, $5, $6, $7, $8)
         returning id`,
        [
          organization.id,
          type,
          fields.spaceId ?? null,
          fields.resourceId ?? newId(),
          fields.audience ?? (fields.spaceId ? "space" : "organization"),
          fields.spaceIds ?? [],
          fields.listedIds ?? [],
          maker,
        ],
      );
      await placeEvents(db, organization.id);
      return rows[0]!.id;
    },

    /** Runs the endpoint's workflow to its end under a clock that jumps when it waits. */
    async run(webhookId: string, onSleep: (ms: number) => Promise<void> = async () => undefined) {
      const workflow = virtualWorkflow({
        activities: { deliverWebhook: (input) => deliverWebhook(deps, input) },
        async onSleep(ms) {
          await age(db, webhookId, ms);
          await onSleep(ms);
        },
      });
      await webhookDelivery({ organization, webhookId });
      return workflow.sleptMs();
    },

    /** Runs the activity once; `stop` asks it to end. */
    step(webhookId: string, stop = new AbortController().signal): Promise<WebhookStep> {
      const context = { cancellationSignal: stop, heartbeat: () => undefined };
      return asyncLocalStorage.run(context as unknown as Context, () =>
        deliverWebhook(deps, { organization, webhookId }),
      );
    },

    async rows(webhookId: string): Promise<DeliveryRow[]> {
      const { rows } = await db.owner.query<DeliveryRow>(
        `select event_type, status, attempts, error_code, http_status
         from webhook_deliveries
         where webhook_id = $1
         order by num`,
        [webhookId],
      );
      return rows;
    },

    async state(webhookId: string): Promise<{ status: string; status_reason: string | null }> {
      const { rows } = await db.owner.query<{ status: string; status_reason: string | null }>(
        "select status, status_reason from webhooks where id = $1",
        [webhookId],
      );
      return rows[0]!;
    },

    close(): void {
      poster.close();
    },
  };
}

export type Delivering = Awaited<ReturnType<typeof startDelivering>>;

/** Lets the endpoint and its deliveries be older by so much. */
async function age(db: OwnedDatabase, webhookId: string, ms: number): Promise<void> {
  await db.owner.query(
    `update webhooks
     set next_attempt_at = next_attempt_at - $2 * interval '1 millisecond',
         failing_since = failing_since - $2 * interval '1 millisecond',
         status_changed_at = status_changed_at - $2 * interval '1 millisecond'
     where id = $1`,
    [webhookId, ms],
  );
  await db.owner.query(
    `update webhook_deliveries
     set next_attempt_at = next_attempt_at - $2 * interval '1 millisecond',
         last_attempt_at = last_attempt_at - $2 * interval '1 millisecond',
         gives_up_at = gives_up_at - $2 * interval '1 millisecond'
     where webhook_id = $1`,
    [webhookId, ms],
  );
}
