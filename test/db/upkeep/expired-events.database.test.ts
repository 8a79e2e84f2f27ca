/** How long events and deliveries are kept, and what a reader is told of what is gone. */
import { expect, it } from "vitest";
import { placeEvents } from "../../../src/db/events/place.ts";
import { inTransaction, type OrganizationRef } from "../../../src/db/pool.ts";
import { deleteOldDeliveries, deleteOldEvents } from "../../../src/db/upkeep/expired-events.ts";
import { newId } from "../../../src/domain/ids.ts";
import { makeOrganization, makeUser } from "../../support/tenants/callers.ts";
import { commandDatabase } from "../../support/tenants/commands.ts";
import { eventsOf, writeEvent } from "../../support/tenants/events.ts";
import { until } from "../../support/until.ts";

const test = commandDatabase();

/** Writes and places one event for each age in days. */
async function eventsOfAges(organization: OrganizationRef, ages: readonly number[]): Promise<void> {
  for (const age of ages) {
    await inTransaction(test.db.owner, (sql) => writeEvent(sql, organization, { age }));
    await test.db.owner.query(
      `update events
       set occurred_at = now() - make_interval(days => $2)
       where organization_id = $1
         and position is null`,
      [organization.id, age],
    );
    await placeEvents(test.db, organization.id);
  }
}

async function kept(organization: OrganizationRef) {
  const { rows } = await test.db.owner.query(
    "select last_position, expired_position from event_positions where organization_id = $1",
    [organization.id],
  );
  const events = await eventsOf(test.db, organization);
  return { ...rows[0], ages: events.map((event) => event.data["age"]) };
}

it("old events are deleted in steps, in the order of the log, and the log says up to where", async () => {
  const [organization, other] = [await makeOrganization(test.db), await makeOrganization(test.db)];
  await eventsOfAges(organization, [40, 35, 33, 2, 31, 1]);
  await eventsOfAges(other, [50]);
  const step = () => deleteOldEvents(test.db, organization.id, 30, 2);

  expect(await step()).toBe(2);
  expect(await kept(organization)).toMatchObject({ expired_position: 2, ages: [33, 2, 31, 1] });
  expect(await step()).toBe(1);
  expect(await step()).toBe(0);

  expect(await kept(organization)).toEqual({ last_position: 6, expired_position: 3, ages: [2, 31, 1] });
  expect(await kept(other)).toMatchObject({ expired_position: 0, ages: [50] });
});

it("an event that is not placed yet is kept, however old it is", async () => {
  const organization = await makeOrganization(test.db);
  await inTransaction(test.db.owner, (sql) => writeEvent(sql, organization));
  await test.db.owner.query("update events set occurred_at = 'epoch' where organization_id = $1", [
    organization.id,
  ]);

  expect(await deleteOldEvents(test.db, organization.id, 30, 100)).toBe(0);
  await placeEvents(test.db, organization.id);
  expect(await deleteOldEvents(test.db, organization.id, 30, 100)).toBe(1);
  expect(await kept(organization)).toEqual({ last_position: 1, expired_position: 1, ages: [] });
});

/** Makes deliveries of one endpoint, by their status and their age in days. */
async function deliveriesOf(ages: Readonly<Record<string, number>>): Promise<void> {
  const organization = await makeOrganization(test.db);
  const [userId, webhookId] = [await makeUser(test.db, organization), newId()];
  await test.db.owner.query(
    `insert into webhooks (id, organization_id, created_by, url, secret_key_id, sealed_secret, position)
     values ($1, $2, $3, 'https://example.org', $1, '', 0)`,
    [webhookId, organization.id, userId],
  );
  for (const [status, age] of Object.entries(ages))
    await test.db.owner.query(
      `insert into webhook_deliveries (id, organization_id, webhook_id, status, created_at)
       values ($1, $2, $3, $4, now() - make_interval(days => $5))`,
      [newId(), organization.id, webhookId, status, age],
    );
}

const statuses = async (): Promise<string[]> =>
  (await test.db.owner.query("select status from webhook_deliveries order by num")).rows.map(
    ({ status }) => status,
  );

it("old deliveries are deleted once they are settled", async () => {
  await deliveriesOf({ pending: 40, delivered: 40, failed: 31, skipped: 29 });

  expect(await deleteOldDeliveries(test.db, 30, 1)).toBe(1);
  expect(await deleteOldDeliveries(test.db, 30, 100)).toBe(1);

  expect(await statuses()).toEqual(["pending", "skipped"]);
});

it("an old delivery that is asked for again while old ones are deleted stays", async () => {
  await test.db.owner.query("delete from webhook_deliveries");
  await deliveriesOf({ delivered: 40 });

  const deleting = await inTransaction(test.db.owner, async (sql) => {
    await sql.query("update webhook_deliveries set status = 'pending'");
    const begun = { count: deleteOldDeliveries(test.db, 30, 100) };
    await until("retention waits for the row", async () => {
      const { rowCount } = await test.db.owner.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rowCount === 1;
    });
    return begun;
  });

  expect(await deleting.count).toBe(0);
  expect(await statuses()).toEqual(["pending"]);
});
