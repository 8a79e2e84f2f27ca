/** The order of the log: a reader that goes on after a position misses nothing and sees nothing twice. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { EVENTS_CHANNEL, findUnplaced, placeEvents } from "../../../src/db/events/place.ts";
import { asTenant, inTenant, type OrganizationRef } from "../../../src/db/pool.ts";
import { createEventPlacer } from "../../../src/dispatch/place-events.ts";
import { seeded } from "../../support/seeded.ts";
import { createTestDatabase, type OwnedDatabase, type TestDatabase } from "../../support/servers/database.ts";
import { makeOrganization, makeUser } from "../../support/tenants/callers.ts";
import { eventsOf, writeEvent } from "../../support/tenants/events.ts";
import { until } from "../../support/until.ts";

let database: TestDatabase;
let db: OwnedDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  ({ db } = database);
});
afterAll(() => database.drop());

/** A transaction of the tenant that has written an event and waits to be told how it ends. */
async function openTransaction(organization: OrganizationRef, name: number) {
  const client = await db.app.connect();
  await client.query(`begin; select ${asTenant(organization)}`);
  await writeEvent(client, organization, { name });
  return async (end: "commit" | "rollback"): Promise<void> => {
    await client.query(end);
    client.release();
  };
}

/** Reads on after its cursor again and again, as a caller does. */
function follow(organization: OrganizationRef) {
  const seen: number[] = [];
  let cursor = 0;
  return {
    seen,
    /** @returns whether there was something. */
    async read(): Promise<boolean> {
      const { rows } = await inTenant(db, organization, (sql) =>
        sql.query<{ position: number; name: number }>(
          `select position, (data ->> 'name')::int as name
           from events
           where organization_id = $1
             and position > $2
           order by position
           limit 7`,
          [organization.id, cursor],
        ),
      );
      seen.push(...rows.map((row) => row.name));
      cursor = rows.at(-1)?.position ?? cursor;
      return rows.length > 0;
    },
  };
}

async function makeWebhook(organization: OrganizationRef, status: "active" | "paused"): Promise<void> {
  await db.owner.query(
    `insert into webhooks (
       id, organization_id, created_by, url, status, secret_key_id, sealed_secret, position
     )
     values (gen_random_uuid(), $1, $2, 'https://receiver.example', $3, gen_random_uuid(), 'sealed', 0)`,
    [organization.id, await makeUser(db, organization), status],
  );
}

const TRANSACTIONS = 200;
const OPEN_AT_ONCE = 6;

it.each([1, 2])(
  "a reader sees each committed event exactly once, whatever the schedule (seed %i)",
  async (seed) => {
    const organization = await makeOrganization(db);
    const random = seeded(seed);
    const reader = follow(organization);
    const open: [name: number, end: (how: "commit" | "rollback") => Promise<void>][] = [];
    const committed: number[] = [];
    let isOver = false;
    const untilOver = async (step: () => Promise<unknown>): Promise<void> => {
      while (!isOver) await step();
    };
    const others = [
      untilOver(() => placeEvents(db, organization.id)),
      untilOver(() => placeEvents(db, organization.id)),
      untilOver(() => reader.read()),
    ];

    for (let begun = 0; begun < TRANSACTIONS || open.length > 0;) {
      if (begun < TRANSACTIONS && (open.length === 0 || (open.length < OPEN_AT_ONCE && random() < 0.5))) {
        begun += 1;
        open.push([begun, await openTransaction(organization, begun)]);
        continue;
      }
      const [[name, end]] = open.splice(Math.floor(random() * open.length), 1) as [(typeof open)[0]];
      const isCommitted = random() < 0.8;
      if (isCommitted) committed.push(name);
      await end(isCommitted ? "commit" : "rollback");
    }
    isOver = true;
    await Promise.all(others);
    await placeEvents(db, organization.id);
    for (let isMore = true; isMore;) isMore = await reader.read();

    expect(reader.seen.toSorted((a, b) => a - b)).toEqual(committed.toSorted((a, b) => a - b));
    expect(committed).not.toEqual(committed.toSorted((a, b) => a - b));
    const positions = (await eventsOf(db, organization)).map((event) => event.position);
    expect(positions).toEqual(committed.map((_, index) => index + 1));
  },
);

it("a transaction that stays open delays its own events, and none of others", async () => {
  const [slow, fast] = [await makeOrganization(db), await makeOrganization(db)];
  const end = await openTransaction(slow, 1);
  await inTenant(db, slow, (sql) => writeEvent(sql, slow, { name: 2 }));
  await inTenant(db, fast, (sql) => writeEvent(sql, fast, { name: 3 }));

  const before = [await eventsOf(db, slow), await eventsOf(db, fast)];
  await end("commit");

  expect(before.map((events) => events.map((event) => event.data))).toEqual([[{ name: 2 }], [{ name: 3 }]]);
  expect((await eventsOf(db, slow)).map((event) => [event.position, event.data])).toEqual([
    [1, { name: 2 }],
    [2, { name: 1 }],
  ]);
});

it("one organization that writes much hides no other from a sweep", async () => {
  const [busy, other] = [await makeOrganization(db), await makeOrganization(db)];
  await inTenant(db, busy, async (sql) => {
    for (let name = 0; name < 20; name += 1) await writeEvent(sql, busy, { name });
  });
  await inTenant(db, other, (sql) => writeEvent(sql, other));

  expect(await findUnplaced(db, 1_000)).toEqual(expect.arrayContaining([busy.id, other.id]));
  expect(await findUnplaced(db, 1)).toHaveLength(1);
});

it("a sweep places what a process wrote that died after the commit, and listeners are told", async () => {
  const organization = await makeOrganization(db);
  await makeWebhook(organization, "active");
  await inTenant(db, organization, (sql) => writeEvent(sql, organization));
  const listener = await db.owner.connect();
  const heard: (string | undefined)[] = [];
  listener.on("notification", ({ payload }) => heard.push(payload));
  await listener.query(`listen ${EVENTS_CHANNEL}`);
  const asked: string[] = [];
  const placer = createEventPlacer({
    db,
    log: { warn: () => undefined },
    onDeliveries: (organizationId) => asked.push(organizationId),
  });

  await placer.sweep();
  await until("the notification", () => heard.includes(organization.id));
  listener.release(true);

  expect(asked).toContain(organization.id);
  expect(await findUnplaced(db, 1_000)).not.toContain(organization.id);
});

it("deliveries are looked for where an active webhook is, and nowhere else", async () => {
  const [none, paused, active] = await Promise.all([1, 2, 3].map(() => makeOrganization(db)));
  await makeWebhook(paused!, "paused");
  await makeWebhook(active!, "active");
  const asked: string[] = [];
  const placer = createEventPlacer({
    db,
    log: { warn: () => undefined },
    onDeliveries: (organizationId) => asked.push(organizationId),
  });

  for (const organization of [none!, paused!, active!]) {
    await inTenant(db, organization, (sql) => writeEvent(sql, organization));
    placer.wake(organization.id);
  }
  await placer.idle();

  expect(asked).toEqual([active!.id]);
});

it("a sweep ends, although an organization goes on writing", async () => {
  const organization = await makeOrganization(db);
  const placer = createEventPlacer({ db, log: { warn: () => undefined }, onDeliveries: () => undefined });
  let isOver = false;
  const writing = (async () => {
    while (!isOver) {
      await inTenant(db, organization, (sql) => writeEvent(sql, organization));
      placer.wake(organization.id);
    }
  })();

  const isUnplaced = async (): Promise<boolean> => (await findUnplaced(db, 1_000)).includes(organization.id);
  for (let sweeps = 0; sweeps < 5; sweeps += 1) {
    await until("there is something to place", isUnplaced);
    await placer.sweep();
  }
  isOver = true;
  await writing;
  await placer.idle();

  expect(await findUnplaced(db, 1_000)).not.toContain(organization.id);
});
