/**
 * The gauges of events and endpoints, as of rows that a test writes. What it asks for is seconds less than
 * what it wrote: a machine's clock may be set back a little in between.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { measureEvents } from "../../src/metrics/events.ts";
import { placeEvents } from "../../src/db/events/place.ts";
import type { OrganizationRef } from "../../src/db/pool.ts";
import { newId } from "../../src/domain/ids.ts";
import type { Metrics, Sample } from "../../src/telemetry/metrics.ts";
import { makeOrganization, makeUser } from "../support/tenants/callers.ts";
import { type OwnedDatabase, type TestDatabase, createTestDatabase } from "../support/servers/database.ts";

let base: TestDatabase;
let db: OwnedDatabase;
let organization: OrganizationRef;
let maker: string;
const gauges = new Map<string, () => Promise<readonly Sample[]> | readonly Sample[]>();

beforeAll(async () => {
  base = await createTestDatabase();
  db = base.db;
  organization = await makeOrganization(db);
  maker = await makeUser(db, organization);
  measureEvents({ gauge: ({ name, read }) => void gauges.set(name, read) } as Metrics, db);
});
afterAll(() => base.drop());

const samples = async (name: string): Promise<readonly Sample[]> => gauges.get(name)!();
const value = async (name: string): Promise<number> => (await samples(name))[0]!.value;

async function makeWebhook(status: string, reason: string | null): Promise<string> {
  const id = newId();
  await db.owner.query(
    `insert into webhooks (
       id, organization_id, created_by, url, secret_key_id, sealed_secret, position, status, status_reason
     ) values ($1, $2, $3, 'https://receiver.example', $1, '', 0, $4, $5)`,
    [id, organization.id, maker, status, reason],
  );
  return id;
}

async function deliver(webhook: string, isDueFor: string, status = "pending"): Promise<void> {
  await db.owner.query(
    `insert into webhook_deliveries (id, organization_id, webhook_id, status, next_attempt_at)
     values ($1, $2, $3, $4, now() - $5::interval)`,
    [newId(), organization.id, webhook, status, isDueFor],
  );
}

test("the age of the oldest event without a position, until it has one", async () => {
  const name = "holdfast_oldest_unplaced_event_seconds";
  expect(await value(name)).toBe(0);
  await db.owner.query(
    `insert into events (organization_id, type, resource_type, audience, occurred_at)
     select $1, 'organization.updated', 'organization', 'organization', now() - age
     from unnest(array[interval '100 seconds', interval '5 seconds']) age`,
    [organization.id],
  );
  expect(await value(name)).toBeGreaterThanOrEqual(90);
  expect(await value(name)).toBeLessThan(300);
  await placeEvents(db, organization.id);
  expect(await value(name)).toBe(0);
});

test("how long the first pending delivery to an active endpoint has been due", async () => {
  const name = "holdfast_webhook_oldest_due_seconds";
  const active = await makeWebhook("active", null);
  await deliver(await makeWebhook("paused", "failing"), "1 day");
  await deliver(active, "1 hour", "delivered");
  await deliver(active, "-1 hour");
  expect(await value(name)).toBe(0);
  await deliver(await makeWebhook("active", null), "100 seconds");
  await deliver(active, "60 seconds");
  const failing = await makeWebhook("active", null);
  await deliver(failing, "1 day");
  const wait = (until: string): Promise<unknown> =>
    db.owner.query(
      `update webhooks
       set failing_since = now() - interval '1 day', next_attempt_at = now() + $2::interval
       where id = $1`,
      [failing, until],
    );
  await wait("1 hour");
  expect(await value(name)).toBeGreaterThanOrEqual(90);
  expect(await value(name)).toBeLessThan(300);
  await wait("-11 minutes");
  expect(await value(name)).toBeGreaterThanOrEqual(600);
});

test("endpoints by status and reason", async () => {
  const count = async (reason: string): Promise<number> =>
    (await samples("holdfast_webhooks")).find(({ labels }) => labels["reason"] === reason)?.value ?? 0;
  expect(await count("gone")).toBe(0);
  await makeWebhook("disabled", "gone");
  await makeWebhook("disabled", "gone");
  expect(await samples("holdfast_webhooks")).toContainEqual({
    labels: { status: "disabled", reason: "gone" },
    value: 2,
  });
});
