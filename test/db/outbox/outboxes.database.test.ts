/** Which deletions and batches are started next: few of an organization at once, and every one in the end. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { BATCHES, DELETIONS, OPERATIONS } from "../../../src/db/outbox/outboxes.ts";
import { requestRotation } from "../../../src/db/outbox/operations.ts";
import { newId } from "../../../src/domain/ids.ts";
import { makeOrganization, makeUser } from "../../support/tenants/callers.ts";
import { createTestDatabase, type TestDatabase } from "../../support/servers/database.ts";

let database: TestDatabase;
let acme: OrganizationRef;
let other: OrganizationRef;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.owner.query("update deletions set completed_at = now()");
  await database.db.owner.query("update batches set completed_at = now()");
  acme = await makeOrganization(database.db);
  other = await makeOrganization(database.db);
});

const ids = (count: number): string[] => Array.from({ length: count }, () => newId());

/** Accepts `count` rows, the first the oldest, and takes those that are due. */
const OUTBOXES = {
  deletions: {
    young: 6,
    open: 32,
    async accept(organization: OrganizationRef, count: number): Promise<void> {
      await database.db.owner.query(
        `insert into deletions (id, organization_id, kind, target_id, created_at)
         select id, $2, 'document', id, now() - interval '1 day' + position * interval '1 second'
         from unnest($1::uuid[]) with ordinality accepted(id, position)`,
        [ids(count), organization.id],
      );
    },
    rows: DELETIONS,
    take: (organization: OrganizationRef | null = null) =>
      DELETIONS.lease(database.db.system, 50, organization?.id ?? null),
  },
  batches: {
    young: 16,
    open: 128,
    async accept(organization: OrganizationRef, count: number): Promise<void> {
      const user = await makeUser(database.db, organization);
      await database.db.owner.query(
        `insert into batches (id, organization_id, created_by, space_ids, total, accepted, created_at)
         select id, $2, $3, '{}', 1, 1, now() - interval '1 day' + position * interval '1 second'
         from unnest($1::uuid[]) with ordinality accepted(id, position)`,
        [ids(count), organization.id, user],
      );
    },
    rows: BATCHES,
    take: (organization: OrganizationRef | null = null) =>
      BATCHES.lease(database.db.system, 50, organization?.id ?? null),
  },
} as const;

describe.each(["deletions", "batches"] as const)("%s", (outbox) => {
  const { accept, take, rows: leased, young, open } = OUTBOXES[outbox];
  const set = (what: string, which = "true") =>
    database.db.owner.query(
      `update ${outbox} set ${what} where organization_id = $1 and completed_at is null and ${which}`,
      [acme.id],
    );
  const age = () => set("started_at = now() - interval '3 seconds'", "started_at is not null");
  const countOf = (taken: ReadonlyArray<{ organization: OrganizationRef }>, of: OrganizationRef): number =>
    taken.filter(({ organization }) => organization.id === of.id).length;

  test("few of a thousand are started, and another organization's only one at once", async () => {
    await accept(acme, 1_000);
    await accept(other, 1);
    const taken = await take();
    expect([countOf(taken, acme), countOf(taken, other)]).toEqual([young, 1]);
    expect(await take()).toEqual([]);
  });

  test("the oldest are started first, and one that is complete makes room for the next", async () => {
    await accept(acme, 100);
    const { rows } = await database.db.owner.query<{ id: string }>(
      `select id from ${outbox} where organization_id = $1 order by created_at`,
      [acme.id],
    );
    const inOrder = rows.map((row) => row.id);
    const first = await take(acme);
    expect(first.map(({ id }) => id).toSorted()).toEqual(inOrder.slice(0, young).toSorted());
    await leased.noteStarted(
      database.db.system,
      first.map(({ id }) => id),
    );
    await set("completed_at = now()", `id = '${first[0]!.id}'`);
    expect((await take(acme)).map(({ id }) => id)).toEqual([inOrder[young]]);
  });

  test("slow ones delay nothing, up to a bound", async () => {
    await accept(acme, open + 50);
    let started = 0;
    for (let round = 0; round < 20; round += 1) {
      started += (await take()).length;
      await age();
    }
    expect(started).toBe(open);
    await set("completed_at = now()", "started_at is not null");
    expect(await take()).toHaveLength(young);
  });

  test("a failed start is taken again at once, a started row after its lease", async () => {
    await accept(acme, 2);
    const taken = await take();
    await leased.endLeases(
      database.db.system,
      taken.map(({ id }) => id),
    );
    expect(await take()).toHaveLength(2);
    expect(await take()).toEqual([]);
    await set("leased_until = now() - interval '1 second'");
    expect(await take()).toHaveLength(2);
  });

  test("rows that the previous version has started count as slow", async () => {
    await accept(acme, open + 8);
    await set(
      "leased_until = now() + interval '1 minute'",
      `id in (
         select id
         from ${outbox}
         where organization_id = '${acme.id}'
           and completed_at is null
         order by created_at
         limit ${open - 2}
       )`,
    );
    expect(await take()).toHaveLength(2);
  });

  test("processes that take rows at the same time take none twice", async () => {
    await accept(acme, 100);
    const taken = (await Promise.all(Array.from({ length: 4 }, () => take()))).flat().map(({ id }) => id);
    expect(new Set(taken).size).toBe(taken.length);
    expect(taken.length).toBeLessThanOrEqual(4 * young);
  });
});

test("started batches whose lease has passed are taken whatever the room, paused ones too", async () => {
  const { accept, take, young } = OUTBOXES.batches;
  await accept(acme, 40);
  await database.db.owner.query(
    `update batches
     set started_at = now() - interval '1 hour',
         leased_until = now() - interval '1 second',
         status = 'paused'
     where completed_at is null`,
  );
  await accept(acme, 40);
  expect(await take()).toHaveLength(Math.min(50, 40 + young));
  await database.db.owner.query(
    `update batches
     set leased_until = now() - interval '1 second'
     where completed_at is null
       and started_at is not null`,
  );
  expect(await take()).toHaveLength(50);
});

test("a cancelled batch is started whatever the room", async () => {
  const { accept, take, young } = OUTBOXES.batches;
  await accept(acme, 40);
  expect(await take()).toHaveLength(young);
  await database.db.owner.query("update batches set status = 'cancelled' where completed_at is null");
  expect(await take()).toHaveLength(40 - young);
});

test("a paused batch is not started and takes no room", async () => {
  const { accept, take, young } = OUTBOXES.batches;
  await accept(acme, 40);
  await database.db.owner.query("update batches set status = 'paused' where completed_at is null");
  expect(await take()).toEqual([]);
  await accept(acme, 40);
  expect(await take()).toHaveLength(young);
  await database.db.owner.query(
    "update batches set status = 'paused' where started_at is not null and completed_at is null",
  );
  expect(await take()).toHaveLength(young);
});

test("an operation is leased once, and again after a failed start", async () => {
  const { db } = database;
  const id = await requestRotation(db, acme);
  const lease = async () => (await OPERATIONS.lease(db.system, 50, null)).filter((row) => row.id === id);
  expect(await lease()).toEqual([{ id, kind: "rotate_organization" }]);
  expect(await lease()).toEqual([]);
  await OPERATIONS.endLeases(db.system, [id]);
  expect(await lease()).toHaveLength(1);
});
