/** Each fault of the log of events and of its deliveries is made, and counted as what it is. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { placeEvents } from "../../../src/db/events/place.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { countFaults } from "../../../src/integrity/organization.ts";
import { newId } from "../../../src/domain/ids.ts";
import { makeOrganization, makeUser } from "../../support/tenants/callers.ts";
import { type OwnedDatabase, type TestDatabase, createTestDatabase } from "../../support/servers/database.ts";

let base: TestDatabase;
let db: OwnedDatabase;
let organization: OrganizationRef;
let maker: string;

beforeAll(async () => {
  base = await createTestDatabase();
  db = base.db;
});
afterAll(() => base.drop());
beforeEach(async () => {
  organization = await makeOrganization(db);
  maker = await makeUser(db, organization);
});

async function writeEvents(count: number, age = "2 minutes"): Promise<void> {
  await db.owner.query(
    `insert into events (organization_id, type, resource_type, audience, occurred_at)
     select $1, 'organization.updated', 'organization', 'organization', now() - $3::interval
     from generate_series(1, $2)`,
    [organization.id, count, age],
  );
}

async function makeWebhook(fields: { position?: number; status?: string } = {}): Promise<string> {
  const id = newId();
  await db.owner.query(
    `insert into webhooks (
       id, organization_id, created_by, url, secret_key_id, sealed_secret, position, status
     ) values ($1, $2, $3, 'https://receiver.example', $1, '', $4, $5)`,
    [id, organization.id, maker, fields.position ?? 0, fields.status ?? "active"],
  );
  return id;
}

async function deliver(webhook: string, eventNum: number): Promise<void> {
  await db.owner.query(
    `insert into webhook_deliveries (id, organization_id, webhook_id, event_num, next_attempt_at)
     values ($1, $2, $3, $4, now() - interval '2 minutes')`,
    [newId(), organization.id, webhook, eventNum],
  );
}

const alter = async (statement: string): Promise<void> =>
  void (await db.owner.query(statement, [organization.id]));

/** The counts that are not 0. */
async function faults(): Promise<Record<string, number>> {
  const counted = Object.entries(await countFaults(db, organization));
  return Object.fromEntries(counted.filter(([, count]) => count > 0));
}

test("a log that is placed, and whose deliveries were made, has no faults", async () => {
  await writeEvents(3);
  await placeEvents(db, organization.id);
  await makeWebhook({ position: 3 });
  expect(await faults()).toEqual({});
});

test("an event that has had no position for more than a minute", async () => {
  await writeEvents(2);
  await writeEvents(1, "10 seconds");
  expect(await faults()).toEqual({ events_unplaced: 2 });
});

test("a position that no event has, and one after the end of the log", async () => {
  await writeEvents(4);
  await placeEvents(db, organization.id);
  await alter("delete from events where organization_id = $1 and position = 2");
  expect(await faults()).toEqual({ events_misplaced: 1 });
  await alter("update events set position = 9 where organization_id = $1 and position = 3");
  expect(await faults()).toEqual({ events_misplaced: 3 });
});

test("events that are not kept any more leave no gap", async () => {
  await writeEvents(4);
  await placeEvents(db, organization.id);
  await alter("delete from events where organization_id = $1 and position <= 3");
  await alter("update event_positions set expired_position = 3 where organization_id = $1");
  expect(await faults()).toEqual({});
});

test("a delivery whose event is gone, unless its endpoint is paused", async () => {
  await writeEvents(1);
  await placeEvents(db, organization.id);
  const webhook = await makeWebhook({ position: 1 });
  const { rows } = await db.owner.query<{ num: number }>(
    "select num from events where organization_id = $1",
    [organization.id],
  );
  await deliver(webhook, rows[0]!.num);
  await deliver(webhook, 0);
  await deliver(await makeWebhook({ position: 1, status: "paused" }), 0);
  expect(await faults()).toEqual({ deliveries_without_event: 1 });
});

test("an endpoint at rest whose deliveries nobody has made for more than a minute", async () => {
  await writeEvents(1);
  await writeEvents(1, "10 seconds");
  await placeEvents(db, organization.id);
  await makeWebhook({ position: 1 });
  await makeWebhook({ position: 0, status: "paused" });
  expect(await faults()).toEqual({});
  await makeWebhook({ position: 0 });
  expect(await faults()).toEqual({ webhooks_not_started: 1 });
  await alter("update webhooks set leased_until = now() + interval '1 minute' where organization_id = $1");
  expect(await faults()).toEqual({});
});

test("an endpoint whose round was lost for more than a minute, but not one that waits because it fails", async () => {
  await writeEvents(1);
  await placeEvents(db, organization.id);
  await makeWebhook({ position: 0 });
  await alter(
    `update webhooks
     set failures = 2, next_attempt_at = now() + interval '1 hour'
     where organization_id = $1`,
  );
  expect(await faults()).toEqual({});
  await alter(
    "update webhooks set is_resting = false, leased_until = now() - interval '1 second' where organization_id = $1",
  );
  expect(await faults()).toEqual({});
  await alter("update webhooks set leased_until = now() - interval '2 minutes' where organization_id = $1");
  expect(await faults()).toEqual({ webhooks_not_started: 1 });
});

test("an endpoint at rest whose next attempt is due, or whose replay was asked for, for more than a minute", async () => {
  await makeWebhook();
  await alter("update webhooks set next_attempt_at = now() + interval '1 minute' where organization_id = $1");
  expect(await faults()).toEqual({});
  await alter(
    "update webhooks set next_attempt_at = now() - interval '2 minutes' where organization_id = $1",
  );
  expect(await faults()).toEqual({ webhooks_not_started: 1 });
  const webhook = await makeWebhook();
  await db.owner.query(
    `insert into webhook_replays (
       id, organization_id, webhook_id, occurred_from, occurred_until, position, until_position, created_at
     ) values ($1, $2, $3, now(), now(), 0, 1, now() - interval '2 minutes')`,
    [newId(), organization.id, webhook],
  );
  expect(await faults()).toEqual({ webhooks_not_started: 2 });
});
