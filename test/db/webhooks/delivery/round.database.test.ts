/** What an endpoint is told of, and which endpoints have something to do. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { takeDueEndpoints } from "../../../../src/db/webhooks/delivery/due-endpoints.ts";
import { beginRound, hasNewEvents } from "../../../../src/db/webhooks/delivery/round.ts";
import { newId } from "../../../../src/domain/ids.ts";
import { onDrillPoint } from "../../../../src/telemetry/drill-point.ts";
import { type Delivering, startDelivering } from "../../../support/events/delivering.ts";
import { type Receiver, startReceiver } from "../../../support/events/receiver.ts";
import { type TestDatabase, createTestDatabase } from "../../../support/servers/database.ts";
import { makeSpace, makeUser } from "../../../support/tenants/callers.ts";

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
  onDrillPoint(undefined);
  world.close();
  await receiver.close();
});

const owner = (text: string, values: unknown[]) => database.db.owner.query(text, values);
const endpoint = (fields: Partial<Parameters<Delivering["endpoint"]>[0]> = {}) =>
  world.endpoint({ url: receiver.url, ...fields });
const told = (): string[] => receiver.received.map(({ id }) => id);
const ownSpace = () => makeSpace(database.db, world.organization, [[world.maker, "owner"]]);

describe("an endpoint is told", () => {
  test("of the types that it names", async () => {
    const webhook = await endpoint({ types: ["organization.updated"] });
    await world.tell("agent.created");
    const id = await world.tell("organization.updated");
    await world.run(webhook);
    expect(told()).toEqual([id]);
  });

  test("of its space alone", async () => {
    const space = await ownSpace();
    const other = await ownSpace();
    const webhook = await endpoint({ spaceId: space });
    const inside = await world.tell("document.completed", { spaceId: space });
    await world.tell("document.completed", { spaceId: other });
    await world.tell("organization.updated");
    const batch = await world.tell("batch.completed", { audience: "own", spaceIds: [space] });
    await world.tell("batch.completed", { audience: "own", spaceIds: [space, other] });
    await world.run(webhook);
    expect(told().toSorted()).toEqual([inside, batch].toSorted());
  });

  test("of no private space and none that its maker does not reach, if it is the organization's", async () => {
    const shared = await ownSpace();
    const mine = await ownSpace();
    await owner("update spaces set is_private = true where id = $1", [mine]);
    const somebody = await makeUser(database.db, world.organization);
    const foreign = await makeSpace(database.db, world.organization, [[somebody, "owner"]]);
    const webhook = await endpoint();
    const seen = await world.tell("document.completed", { spaceId: shared });
    await world.tell("document.completed", { spaceId: mine });
    await world.tell("document.completed", { spaceId: foreign });
    const listed = { audience: "listed", listedIds: [world.maker] };
    await world.tell("space.deleted", { spaceId: mine, ...listed });
    const gone = await world.tell("space.deleted", { spaceId: shared, ...listed });
    await world.run(webhook);
    expect(told().toSorted()).toEqual([seen, gone].toSorted());
  });

  test("of its own test, whatever its types, and of nobody else's", async () => {
    const webhook = await endpoint({ types: ["agent.created"] });
    const other = await endpoint();
    const id = await world.tell("webhook.test", { resourceId: webhook, audience: "user" });
    await world.run(webhook);
    await world.run(other);
    expect(told()).toEqual([id]);
  });
});

describe("a right that is lost", () => {
  test("between making and sending leaves the delivery out, with a row that says so", async () => {
    const space = await ownSpace();
    const webhook = await endpoint();
    await world.tell("document.completed", { spaceId: space });
    receiver.answer((response) => response.writeHead(500).end());
    await world.step(webhook);
    await owner("delete from space_members where space_id = $1", [space]);
    await owner(
      "update webhook_deliveries set next_attempt_at = now() - interval '1 second' where webhook_id = $1",
      [webhook],
    );
    await world.run(webhook);
    expect(receiver.received).toHaveLength(1);
    expect(await world.rows(webhook)).toMatchObject([
      { status: "skipped", error_code: "reach_lost", attempts: 1 },
    ]);
  });

  test.each([
    ["the role of an administrator", "update users set role = 'member' where id = $1"],
    ["the membership", "update users set removed_at = now() where id = $1"],
  ])("pauses the organization's endpoint with an event: %s", async (_what, statement) => {
    const webhook = await endpoint();
    await world.tell("organization.updated");
    await owner(statement, [world.maker]);
    await world.run(webhook);
    expect(receiver.received).toEqual([]);
    expect(await world.state(webhook)).toEqual({ status: "paused", status_reason: "reach_lost" });
    const { rows } = await owner("select type, data from events where resource_id = $1", [webhook]);
    expect(rows).toEqual([{ type: "webhook.paused", data: { reason: "reach_lost" } }]);
    const audit = await owner("select action, auth_method from audit_log where resource_id = $1", [webhook]);
    expect(audit.rows).toEqual([{ action: "webhooks:pause", auth_method: "system" }]);
  });

  test("pauses a space's endpoint, if its maker owns the space no more", async () => {
    const space = await ownSpace();
    const webhook = await endpoint({ spaceId: space });
    await owner("update space_members set role = 'editor' where space_id = $1", [space]);
    await world.tell("document.completed", { spaceId: space });
    await world.run(webhook);
    expect(receiver.received).toEqual([]);
    expect(await world.state(webhook)).toMatchObject({ status: "paused" });
  });
});

test("a stretch of the log that expired leaves one row, and the rest is delivered", async () => {
  const webhook = await endpoint();
  await world.tell("organization.updated");
  await world.tell("organization.updated");
  await owner("delete from events where organization_id = $1", [world.organization.id]);
  await owner("update event_positions set expired_position = 2 where organization_id = $1", [
    world.organization.id,
  ]);
  const id = await world.tell("organization.updated");
  await world.run(webhook);
  expect(told()).toEqual([id]);
  const rows = await world.rows(webhook);
  expect(rows.toSorted((a, b) => b.status.localeCompare(a.status))).toMatchObject([
    { status: "skipped", error_code: "expired", event_type: null },
    { status: "delivered" },
  ]);
});

test("a replay delivers its stretch again under the same ids, and what was never delivered", async () => {
  const missed = await world.tell("organization.updated");
  const webhook = await endpoint();
  const ids = [await world.tell("organization.updated"), await world.tell("organization.updated")];
  await world.tell("agent.created", { audience: "organization" });
  await world.run(webhook);
  receiver.received.length = 0;
  await owner(
    `insert into webhook_replays (
       id, organization_id, webhook_id, types, occurred_from, occurred_until, position, until_position
     )
     values ($1, $2, $3, '{organization.updated}', '2000-01-01', now() + interval '1 hour', 0, 4)`,
    [newId(), world.organization.id, webhook],
  );
  await world.run(webhook);
  expect(told().toSorted()).toEqual([missed, ...ids].toSorted());
  const { rows } = await owner("select completed_at is not null as is_done from webhook_replays", []);
  expect(rows).toEqual([{ is_done: true }]);
});

test.each([
  ["during the overlap", "now() + interval '1 minute'", 2],
  ["and not after it", "now() - interval '1 second'", 1],
])("the secret before a roll signs too, %s", async (_what, until, signatures) => {
  const webhook = await endpoint();
  await owner(
    `update webhooks
     set previous_secret_key_id = secret_key_id,
         sealed_previous_secret = sealed_secret,
         previous_until = ${until}
     where id = $1`,
    [webhook],
  );
  await world.tell("organization.updated");
  await world.run(webhook);
  const signed = String(receiver.received[0]!.headers["webhook-signature"]);
  expect(signed.split(" ")).toHaveLength(signatures);
});

test("what was sent before its outcome was written is sent again under the same id", async () => {
  const webhook = await endpoint();
  const id = await world.tell("organization.updated");
  onDrillPoint(async (point) => {
    if (point === "webhookDelivery: sent, outcome not written") throw new Error("killed");
  });
  await expect(world.step(webhook)).rejects.toThrow("killed");
  onDrillPoint(undefined);
  await world.run(webhook);
  expect(told()).toEqual([id, id]);
  expect(await world.rows(webhook)).toMatchObject([{ status: "delivered" }]);
});

test("events that are placed while the endpoint comes to rest are seen by it or by who placed them", async () => {
  const webhook = await endpoint();
  const { db } = database;
  expect(await beginRound(db, world.organization, webhook, 1)).toEqual({ type: "rest", waitMs: null });
  expect(await hasNewEvents(db, world.organization, webhook)).toBe(false);
  await world.tell("organization.updated");
  expect(await hasNewEvents(db, world.organization, webhook)).toBe(true);
  const taken = await takeDueEndpoints(db.system, world.organization.id, 1);
  expect(taken.map(({ webhookId }) => webhookId)).toEqual([webhook]);
});

describe("the dispatcher takes", () => {
  const take = async (organizationId: string | null = world.organization.id) =>
    (await takeDueEndpoints(database.db.system, organizationId, 100))
      .filter(({ organization }) => organization.id === world.organization.id)
      .map(({ webhookId }) => webhookId);
  const set = (webhook: string, what: string) =>
    owner(`update webhooks set ${what} where id = $1`, [webhook]);

  test("an endpoint with new events, once while its start is leased, and not without any", async () => {
    const webhook = await endpoint();
    expect(await take()).toEqual([]);
    await world.tell("organization.updated");
    expect(await take()).toEqual([webhook]);
    expect(await take()).toEqual([]);
    await world.run(webhook);
    expect(await take()).toEqual([]);
    await world.tell("organization.updated");
    expect(await take(null)).toEqual([webhook]);
  });

  test("no endpoint that is paused, or that waits because it fails", async () => {
    const paused = await endpoint();
    const failing = await endpoint();
    await set(paused, "status = 'paused'");
    await set(failing, "failures = 1, next_attempt_at = now() + interval '1 hour'");
    await world.tell("organization.updated");
    expect(await take()).toEqual([]);
    await set(failing, "next_attempt_at = now() - interval '3 seconds'");
    expect(await take(null)).toEqual([failing]);
  });

  test("an endpoint whose round was lost, such as by the end of its workflow", async () => {
    const webhook = await endpoint();
    await set(webhook, "is_resting = false, leased_until = now() + interval '1 minute'");
    expect(await take()).toEqual([]);
    await set(webhook, "leased_until = now() - interval '1 second'");
    expect(await take()).toEqual([webhook]);
  });
});
