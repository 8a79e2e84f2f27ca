/** What becomes of deliveries when others work on the same rows at the same moment. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { endWebhookLeases, takeDueEndpoints } from "../../../../src/db/webhooks/delivery/due-endpoints.ts";
import { lockEndpoint } from "../../../../src/db/webhooks/delivery/endpoint.ts";
import { makeDeliveries, makeReplays } from "../../../../src/db/webhooks/delivery/make.ts";
import { beginRound } from "../../../../src/db/webhooks/delivery/round.ts";
import { updateWebhook } from "../../../../src/db/webhooks/records.ts";
import { deleteOldEvents } from "../../../../src/db/upkeep/expired-events.ts";
import { newId } from "../../../../src/domain/ids.ts";
import { inTenant, inTransaction, type Sql } from "../../../../src/db/pool.ts";
import { type Delivering, startDelivering } from "../../../support/events/delivering.ts";
import { type Receiver, startReceiver } from "../../../support/events/receiver.ts";
import { type TestDatabase, createTestDatabase } from "../../../support/servers/database.ts";

let database: TestDatabase;
let receiver: Receiver;
let world: Delivering;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  receiver = await startReceiver();
  world = await startDelivering(database.db);
});
afterEach(async () => {
  world.close();
  await receiver.close();
});

const owner = (text: string, values: unknown[]) => database.db.owner.query(text, values);
const endpoint = () => world.endpoint({ url: receiver.url });
const tenant = <T>(work: (sql: Sql) => Promise<T>) => inTenant(database.db, world.organization, work);
const take = async () =>
  (await takeDueEndpoints(database.db.system, world.organization.id, 10)).map(({ webhookId }) => webhookId);

/** Lets the first `count` events of the log expire. */
async function expire(count: number): Promise<void> {
  await owner(
    `update events
     set occurred_at = now() - interval '40 days'
     where organization_id = $1
       and position <= $2`,
    [world.organization.id, count],
  );
  expect(await deleteOldEvents(database.db, world.organization.id, 30, 100)).toBe(count);
}

async function askForReplay(webhook: string, until: number): Promise<void> {
  await owner(
    `insert into webhook_replays (
       id, organization_id, webhook_id, occurred_from, occurred_until, position, until_position
     )
     values ($1, $2, $3, '2000-01-01', now() + interval '1 hour', 0, $4)`,
    [newId(), world.organization.id, webhook, until],
  );
}

describe("retention that runs while deliveries are made leaves a row that says what was skipped", () => {
  test("of the log", async () => {
    const webhook = await endpoint();
    for (let count = 0; count < 3; count += 1) await world.tell("organization.updated");
    await tenant(async (sql) => {
      const locked = await lockEndpoint(sql, world.organization, webhook);
      await expire(2);
      await makeDeliveries(sql, locked!);
    });
    await world.run(webhook);
    const rows = await world.rows(webhook);
    expect(rows.map(({ status, error_code: code }) => `${status} ${code}`).toSorted()).toEqual([
      "delivered null",
      "skipped expired",
    ]);
  });

  test("of a replay", async () => {
    for (let count = 0; count < 3; count += 1) await world.tell("organization.updated");
    const webhook = await endpoint();
    await askForReplay(webhook, 3);
    await expire(2);
    await world.run(webhook);
    const rows = await world.rows(webhook);
    expect(rows.map(({ status, error_code: code }) => `${status} ${code}`).toSorted()).toEqual([
      "delivered null",
      "skipped expired",
    ]);
  });
});

test("a replay gets ahead of no event that was not delivered yet", async () => {
  const webhook = await endpoint();
  await world.tell("organization.updated");
  await world.tell("organization.updated");
  await askForReplay(webhook, 2);
  const made = await tenant(async (sql) => {
    const locked = await lockEndpoint(sql, world.organization, webhook);
    const isLeft = await makeReplays(sql, locked!);
    const { rowCount } = await sql.query("select from webhook_deliveries where webhook_id = $1", [webhook]);
    return { isLeft, rowCount };
  });
  expect(made).toEqual({ isLeft: true, rowCount: 0 });
  await world.run(webhook);
  expect((await world.rows(webhook)).map(({ status }) => status)).toEqual(["delivered", "delivered"]);
});

test("a lease of a row that somebody has locked is left to end by itself", async () => {
  const [locked, free] = [await endpoint(), await endpoint()];
  await world.tell("organization.updated");
  expect((await take()).toSorted()).toEqual([locked, free].toSorted());
  await inTransaction(database.db.owner, async (sql) => {
    await sql.query("select from webhooks where id = $1 for no key update", [locked]);
    await endWebhookLeases(database.db.system, [locked, free]);
  });
  expect(await take()).toEqual([free]);
});

test("an endpoint that was paused during its round is started as soon as it is resumed", async () => {
  const webhook = await endpoint();
  await world.tell("organization.updated");
  expect(await beginRound(database.db, world.organization, webhook, 1)).toMatchObject({ type: "send" });
  const values = { url: receiver.url, types: [], description: null, startsAfresh: true };
  await tenant((sql) =>
    updateWebhook(sql, webhook, { ...values, status: "paused", reason: "by_user", startsAfresh: false }),
  );
  expect(await take()).toEqual([]);
  await tenant((sql) => updateWebhook(sql, webhook, { ...values, status: "active", reason: null }));
  expect(await take()).toEqual([webhook]);
});

test("an endpoint of an organization that is being deleted is told nothing and not started", async () => {
  const webhook = await endpoint();
  await world.tell("organization.updated");
  await owner("update organizations set deleted_at = now() where id = $1", [world.organization.id]);
  expect(await take()).toEqual([]);
  await world.run(webhook);
  expect(receiver.received).toEqual([]);
});

test("a worker that stops writes the outcomes of what it has sent, and begins nothing more", async () => {
  const webhook = await endpoint();
  for (let count = 0; count < 20; count += 1)
    await world.tell("organization.updated", { resourceId: world.organization.id });
  const stop = new AbortController();
  receiver.answer((response) => {
    stop.abort();
    response.writeHead(204).end();
  });
  expect(await world.step(webhook, stop.signal)).toEqual({ state: "again" });
  expect(receiver.received).toHaveLength(1);
  expect((await world.rows(webhook)).filter(({ status }) => status === "delivered")).toHaveLength(1);
});
