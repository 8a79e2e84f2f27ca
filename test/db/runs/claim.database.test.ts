/** Which queued runs are claimed together, which wait, and which users' runs go first. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Claim, claimRuns } from "../../../src/db/runs/claim.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { newId } from "../../../src/domain/ids.ts";
import { LANES, PRIORITY } from "../../../src/domain/work/processing.ts";
import { makeOrganization, makeSpace, makeUser } from "../../support/tenants/callers.ts";
import { createTestDatabase, type TestDatabase } from "../../support/servers/database.ts";

let database: TestDatabase;
let organization: OrganizationRef;
let space: string;
let ann: string;
let bob: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  organization = await makeOrganization(database.db);
  ann = await makeUser(database.db, organization);
  bob = await makeUser(database.db, organization);
  space = await makeSpace(database.db, organization, [[ann, "owner"]]);
});

interface File {
  readonly by?: string;
  readonly type?: string;
  readonly bytes?: number;
  readonly priority?: 0 | 1;
}

/** Queues runs and returns their ids, in order. */
async function queue(
  count: number,
  { by = ann, type = "MARKDOWN", bytes = 1_000, priority = 0 }: File = {},
): Promise<string[]> {
  const { rows } = await database.db.owner.query<{ id: string }>(
    `insert into pipeline_runs
       (id, organization_id, space_id, space_num, document_id, version, trigger, priority,
        object_key, file_name, file_type, file_size, chunker_name, created_by)
     select queued.id, $2, $3, 1, queued.id, 1, 'upload', $4,
            'key', 'name', $5, $6, 'page_based', $7
     from unnest($1::uuid[]) with ordinality queued(id, position)
     order by queued.position
     returning id`,
    [Array.from({ length: count }, () => newId()), organization.id, space, priority, type, bytes, by],
  );
  return rows.map((row) => row.id);
}

const claim = (priority: 0 | 1 = PRIORITY.interactive): Promise<Claim[]> =>
  claimRuns(database.db.system, organization, priority);
const lanesOf = (claims: readonly Claim[]) => claims.map(({ lane, runIds }) => [lane, runIds.length]);
/** Makes the claims so old that no runs gather for the next one. */
const age = () =>
  database.db.owner.query(
    "update claims set created_at = now() - interval '3 seconds' where organization_id = $1",
    [organization.id],
  );
const close = (one: Claim) =>
  database.db.owner.query(
    `with ended as (
       update pipeline_runs
       set status = 'completed'
       where claim_id = $1
     )
     update claims
     set closed_at = now()
     where id = $1`,
    [one.id],
  );

describe("lanes", () => {
  test("each lane is claimed apart, and each large file in a claim of its own", async () => {
    await queue(1, { bytes: 3_000_000, type: "PDF" });
    await queue(1, { bytes: 20_000_000, type: "MARKDOWN" });
    await queue(2, { type: "PDF" });
    await queue(1, { bytes: 200_000 });
    await queue(3);
    const claims = await claim();
    expect(lanesOf(claims)).toEqual([
      [LANES.quick, 3],
      [LANES.middle, 3],
      [LANES.large, 1],
      [LANES.large, 1],
    ]);
    expect(claims.map((one) => one.isForOneRun)).toEqual([false, false, true, true]);
  });

  test("a small file does not wait for large ones of the same user", async () => {
    await queue(10, { bytes: 3_000_000, type: "PDF" });
    expect(lanesOf(await claim())).toEqual([1, 2, 3].map(() => [LANES.large, 1]));
    const [note] = await queue(1);
    const [letter] = await queue(1, { type: "PDF" });
    expect((await claim()).map((one) => one.runIds)).toEqual([[note], [letter]]);
  });

  test("a file is in the lane of its size", async () => {
    await queue(1, { bytes: 65_536 });
    await queue(1, { bytes: 65_537 });
    await queue(1, { bytes: 1_048_577 });
    expect(lanesOf(await claim())).toEqual([
      [LANES.quick, 1],
      [LANES.middle, 1],
      [LANES.large, 1],
    ]);
  });
});

describe("claims under way", () => {
  test("runs that are queued while three claims are young gather for the next claim", async () => {
    for (let at = 0; at < 3; at++) {
      await queue(1);
      expect(await claim()).toHaveLength(1);
    }
    await queue(40);
    expect(await claim()).toEqual([]);
    await close((await claimed())[0]!);
    expect(lanesOf(await claim())).toEqual([[LANES.quick, 32]]);
  });

  test("slow claims delay nobody, up to six in a lane", async () => {
    for (let at = 0; at < 6; at++) {
      await queue(1, { type: "PDF" });
      expect(await claim()).toHaveLength(1);
      await age();
    }
    await queue(1, { type: "PDF" });
    expect(await claim()).toEqual([]);
    await queue(1);
    expect(lanesOf(await claim())).toEqual([[LANES.quick, 1]]);
  });

  test("a batch has one young claim, and uploads are claimed all the same", async () => {
    await queue(64, { priority: 1 });
    expect(lanesOf(await claim(PRIORITY.batch))).toEqual([[LANES.quick, 32]]);
    expect(await claim(PRIORITY.batch)).toEqual([]);
    await queue(1);
    expect(await claim()).toHaveLength(1);
  });
});

describe("users of one organization", () => {
  test("share a claim, the oldest run of each first", async () => {
    const anns = await queue(40);
    const bobs = await queue(2, { by: bob });
    const [group] = await claim();
    expect(group!.runIds).toHaveLength(32);
    expect(group!.runIds).toEqual(expect.arrayContaining([...bobs, ...anns.slice(0, 30)]));
  });

  test("get a claim in a lane that is full of others' work if they have none under way in it", async () => {
    for (let at = 0; at < 3; at++) {
      await queue(1);
      await claim();
    }
    await queue(5);
    const bobs = await queue(1, { by: bob });
    expect((await claim()).map((one) => one.runIds)).toEqual([bobs]);
    await queue(1, { by: bob });
    expect(await claim()).toEqual([]);
  });
});

test("processes that claim at the same time take every run once", async () => {
  const queued = [
    ...(await queue(50)),
    ...(await queue(20, { type: "PDF" })),
    ...(await queue(2, { bytes: 2_000_000 })),
  ];
  const claims = (await Promise.all([claim(), claim(), claim(), claim(), claim()])).flat();
  const taken = claims.flatMap((one) => one.runIds);
  expect(new Set(taken).size).toBe(taken.length);
  expect(taken.toSorted()).toEqual(queued.toSorted());
});

const claimed = async () =>
  (
    await database.db.owner.query<Claim>(
      "select id from claims where organization_id = $1 order by created_at",
      [organization.id],
    )
  ).rows;
