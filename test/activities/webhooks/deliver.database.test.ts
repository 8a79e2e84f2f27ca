/** What becomes of events with receivers of every kind, under a clock that jumps when the workflow waits. */
import type { ServerResponse } from "node:http";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { newId } from "../../../src/domain/ids.ts";
import { runPython } from "../../support/clients/python-client.ts";
import { type Delivering, startDelivering } from "../../support/events/delivering.ts";
import { type Receiver, startReceiver } from "../../support/events/receiver.ts";
import { type TestDatabase, createTestDatabase } from "../../support/servers/database.ts";
import { makeSpace } from "../../support/tenants/callers.ts";
import { until } from "../../support/until.ts";

const CACHE = process.env["HOLDFAST_TEST_CACHE_DIR"] ?? "";
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

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

const endpoint = (fields: Partial<Parameters<Delivering["endpoint"]>[0]> = {}) =>
  world.endpoint({ url: receiver.url, ...fields });

test(
  "an event arrives as it is shown, and the official libraries verify it",
  { timeout: 300_000 },
  async () => {
    const webhook = await endpoint();
    const id = await world.tell("organization.updated");
    expect(await world.run(webhook)).toBe(0);
    const [got] = receiver.received;
    expect(JSON.parse(got!.body)).toMatchObject({
      id,
      type: "organization.updated",
      organization_id: world.organization.id,
      actor: { type: "system", user_id: null },
      data: {},
    });
    expect(JSON.parse(got!.body)).not.toHaveProperty("position");
    expect(got!.id).toBe(id);
    const headers = got!.headers as Record<string, string>;
    expect(() => new Webhook(world.secret).verify(got!.body, headers)).not.toThrow();
    const deliveries = [
      { headers, body: got!.body },
      { headers, body: `${got!.body} ` },
    ];
    const library = "standardwebhooks==1.1.0";
    const given = JSON.stringify({ secret: world.secret, deliveries });
    expect(await runPython({ cacheDir: CACHE, library }, "verify-webhook.py", [given])).toEqual([
      true,
      false,
    ]);
    expect(await world.rows(webhook)).toMatchObject([{ status: "delivered", attempts: 1, http_status: 204 }]);
  },
);

describe("a receiver", () => {
  test("that answers 500 gets the event again, under the same id, until it takes it", async () => {
    const webhook = await endpoint();
    const id = await world.tell("organization.updated");
    receiver.answer((response) =>
      response.writeHead(receiver.received.length < 4 ? 500 : 200).end("an answer"),
    );
    const slept = await world.run(webhook);
    expect(receiver.received.map((got) => got.id)).toEqual([id, id, id, id]);
    expect(slept).toBeGreaterThanOrEqual(5_000 + 30_000 + 120_000);
    expect(slept).toBeLessThan(1.3 * (5_000 + 30_000 + 120_000));
    expect(await world.rows(webhook)).toMatchObject([{ status: "delivered", attempts: 4, error_code: null }]);
  });

  test("that says when to come back is asked then", async () => {
    const webhook = await endpoint();
    await world.tell("organization.updated");
    receiver.answer((response) =>
      response.writeHead(receiver.received.length < 2 ? 429 : 200, { "retry-after": "1000" }).end(),
    );
    const slept = await world.run(webhook);
    expect(slept).toBeGreaterThan(990_000);
    expect(slept).toBeLessThan(1_010_000);
  });

  test("that says that it is gone is disabled at once, with an event; what is pending stays so", async () => {
    const webhook = await endpoint();
    const resourceId = world.organization.id;
    for (let count = 0; count < 3; count += 1) await world.tell("organization.updated", { resourceId });
    receiver.answer((response) => response.writeHead(410).end());
    await world.run(webhook);
    expect(await world.state(webhook)).toEqual({ status: "disabled", status_reason: "gone" });
    const { rows } = await database.db.owner.query(
      "select type, data, auth_method from events where resource_id = $1",
      [webhook],
    );
    expect(rows).toEqual([{ type: "webhook.disabled", data: { reason: "gone" }, auth_method: "system" }]);
    expect(world.warnings).toContainEqual(expect.objectContaining({ webhook_id: webhook, reason: "gone" }));
    const all = await world.rows(webhook);
    expect(all.filter(({ status }) => status === "pending")).toHaveLength(
      all.length - receiver.received.length,
    );
  });

  test("that only fails is tried with one delivery at a time, and is paused after three days", async () => {
    const webhook = await endpoint();
    for (let count = 0; count < 40; count += 1) await world.tell("organization.updated");
    receiver.answer((response) => response.writeHead(500).end());
    const tries: number[] = [];
    const slept = await world.run(webhook, async () => {
      tries.push(receiver.received.length);
      if (tries.length === 8)
        await database.db.owner.query(
          "update webhooks set failing_since = failing_since - interval '70 hours' where id = $1",
          [webhook],
        );
    });
    expect(slept).toBeGreaterThanOrEqual(2 * HOUR_MS);
    expect(slept).toBeLessThan(3 * HOUR_MS);
    expect(await world.state(webhook)).toEqual({ status: "paused", status_reason: "failing" });
    const rows = await world.rows(webhook);
    expect(rows.every(({ status }) => status === "pending")).toBe(true);
    expect(rows.length).toBeGreaterThanOrEqual(40);
    expect(tries.at(-1)).toBeLessThan(40);
    const inRound = tries.slice(1).map((count, before) => count - tries[before]!);
    expect(inRound.length).toBeGreaterThanOrEqual(8);
    expect(Math.max(...inRound)).toBe(1);
  });

  test("that comes back gets all that it missed, each once", async () => {
    const webhook = await endpoint();
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.push(await world.tell("organization.updated"));
    let slept = 0;
    let isDown = true;
    const taken: string[] = [];
    const times = new Set<number>();
    receiver.answer((response, got) => {
      if (!isDown) {
        taken.push(got.id);
        times.add(slept);
      }
      response.writeHead(isDown ? 503 : 200).end();
    });
    await world.run(webhook, async (ms) => {
      slept += ms;
      isDown = slept < HOUR_MS;
    });
    expect(taken.toSorted()).toEqual(ids.toSorted());
    // The first success makes all that failed meanwhile due at once.
    expect(times.size).toBe(1);
    expect((await world.rows(webhook)).every(({ status }) => status === "delivered")).toBe(true);
  });

  test("that never takes one event gets the others at once, and that one for three days", async () => {
    const webhook = await endpoint();
    const bad = await world.tell("organization.updated");
    receiver.answer((response, got) => response.writeHead(got.id === bad ? 500 : 200).end());
    const taken: string[] = [];
    let told = 0;
    const slept = await world.run(webhook, async () => {
      // The wait of the bad one does not hold up what comes meanwhile, which a signal would tell of at once.
      if (told < 20) taken.push(await world.tell("organization.updated"));
      told += 1;
    });
    const rows = await world.rows(webhook);
    expect(rows[0]).toMatchObject({ status: "failed", error_code: "status_500" });
    expect(rows.slice(1).every(({ status, attempts }) => status === "delivered" && attempts === 1)).toBe(
      true,
    );
    expect(slept).toBeGreaterThanOrEqual(3 * DAY_MS);
    expect(await world.state(webhook)).toMatchObject({ status: "active" });
  });

  test("that refuses several events gets the others within minutes, however long that goes on", async () => {
    const webhook = await endpoint();
    const refused: string[] = [];
    for (let count = 0; count < 6; count += 1) refused.push(await world.tell("organization.updated"));
    let slept = 0;
    let good: string | undefined;
    const times: number[] = [];
    receiver.answer((response, got) => {
      if (got.id === good) times.push(slept);
      response.writeHead(refused.includes(got.id) && times.length === 0 ? 500 : 200).end();
    });
    await world.run(webhook, async (ms) => {
      slept += ms;
      if (good === undefined && slept > 2 * HOUR_MS) {
        good = await world.tell("organization.updated");
        slept = 0;
      }
    });
    expect(times).toHaveLength(1);
    expect(times[0]).toBeLessThan(13 * 60_000);
    expect((await world.rows(webhook)).every(({ status }) => status === "delivered")).toBe(true);
  });

  test("that refuses what is left of several waits between attempts", async () => {
    const webhook = await endpoint();
    for (let count = 0; count < 2; count += 1) await world.tell("organization.updated");
    receiver.answer((response) => response.writeHead(500).end());
    await world.step(webhook);
    await database.db.owner.query(
      `update webhook_deliveries
       set status = 'failed'
       where num = (select min(num) from webhook_deliveries where webhook_id = $1)`,
      [webhook],
    );
    await database.db.owner.query(
      "update webhooks set next_attempt_at = now() - interval '1 minute' where id = $1",
      [webhook],
    );
    receiver.received.length = 0;
    expect(await world.step(webhook)).toMatchObject({ state: "waiting" });
    expect(receiver.received).toHaveLength(1);
  });

  test("that hangs costs a few attempts, and the others nothing", async () => {
    const hanging = await endpoint({ url: receiver.url.replace("hook", "hangs") });
    const webhook = await endpoint();
    for (let count = 0; count < 40; count += 1) await world.tell("organization.updated");
    const hung: ServerResponse[] = [];
    let isReleased = false;
    receiver.answer((response, { path }) => {
      if (path === "/hangs") {
        hung.push(response);
        if (isReleased) response.writeHead(500).end();
      } else response.writeHead(204).end();
    });
    const stuck = world.step(hanging);
    await until("the first attempts hang", async () => hung.length > 0);
    await world.run(webhook);
    expect((await world.rows(webhook)).every(({ status }) => status === "delivered")).toBe(true);
    isReleased = true;
    for (const response of hung) response.writeHead(500).end();
    expect(await stuck).toMatchObject({ state: "waiting" });
    const rows = await world.rows(hanging);
    expect(hung.length).toBeLessThan(8);
    expect(rows.filter(({ attempts }) => attempts > 0)).toHaveLength(hung.length);
  });
});

test("progress is told to those who name it, and to no others", async () => {
  const spaceId = await makeSpace(database.db, world.organization, [[world.maker, "owner"]]);
  const named = await world.endpoint({ url: receiver.url, types: ["document.progressed"] });
  const unnamed = await world.endpoint({ url: receiver.url });
  for (const type of ["document.progressed", "document.completed"]) await world.tell(type, { spaceId });
  for (const webhook of [named, unnamed]) await world.run(webhook);
  const types = async (webhook: string) => (await world.rows(webhook)).map((row) => row.event_type);
  expect(await types(named)).toEqual(["document.progressed"]);
  expect(await types(unnamed)).toEqual(["document.completed"]);
});

test("first attempts keep the log's order within a resource", async () => {
  const webhook = await endpoint();
  const space = await makeSpace(database.db, world.organization, [[world.maker, "owner"]]);
  const resources = [world.organization.id, world.maker, space];
  const order: string[] = [];
  for (let round = 0; round < 30; round += 1)
    for (const resourceId of resources) order.push(await world.tell("organization.updated", { resourceId }));
  receiver.answer((response, { body }) =>
    setTimeout(() => response.writeHead(204).end(), body.includes(space) ? 3 : 0),
  );
  await world.run(webhook);
  for (const [index] of resources.entries()) {
    const expected = order.filter((_id, at) => at % resources.length === index);
    expect(receiver.received.map(({ id }) => id).filter((id) => expected.includes(id))).toEqual(expected);
  }
});

test("rights are looked at again before a receiver that takes its time gets more", async () => {
  const webhook = await endpoint();
  const resourceId = newId();
  const first = await world.tell("organization.updated", { resourceId });
  await world.tell("organization.updated", { resourceId });
  vi.useFakeTimers({ toFake: ["Date"] });
  receiver.answer((response) => {
    vi.setSystemTime(Date.now() + 5_000);
    void database.db.owner
      .query("update users set role = 'member' where id = $1", [world.maker])
      .then(() => response.writeHead(204).end());
  });
  await world.run(webhook).finally(() => vi.useRealTimers());

  expect(receiver.received.map(({ id }) => id)).toEqual([first]);
  expect(await world.state(webhook)).toEqual({ status: "paused", status_reason: "reach_lost" });
});
