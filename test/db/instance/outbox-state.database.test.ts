/** What operators are told of outboxes, waits, orphans and processes is what the rows say. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { listWaiting, readOutboxes } from "../../../src/db/instance/outbox-state.ts";
import { announceProcess, listProcesses } from "../../../src/db/instance/processes.ts";
import { requestOrganizationDeletion } from "../../../src/db/outbox/operations.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { readOrphanCounts } from "../../../src/db/upkeep/orphan-counts.ts";
import { countWhenDue } from "../../../src/integrity/orphan-counts.ts";
import { newId } from "../../../src/domain/ids.ts";
import { createTestDatabase, type TestDatabase } from "../../support/servers/database.ts";
import { makeOrganization } from "../../support/tenants/callers.ts";
import { until } from "../../support/until.ts";

let test_: TestDatabase;
let organization: OrganizationRef;

beforeAll(async () => {
  test_ = await createTestDatabase();
  organization = await makeOrganization(test_.db);
});
afterAll(() => test_.drop());

const PAGE = { page: 1, limit: 100 };

test("an operation that may not begin yet waits for its moment, and is nobody's to take", async () => {
  await requestOrganizationDeletion(test_.db, await makeOrganization(test_.db), 600);

  const { items, total } = await listWaiting(test_.db, PAGE);
  expect(total).toBe(1);
  expect(items).toMatchObject([
    { kind: "operation", code: "not_before", count: 1, next_attempt_at: expect.any(Date) },
  ]);
  const operations = (await readOutboxes(test_.db)).find(({ kind }) => kind === "operations");
  expect(operations).toMatchObject({ waiting: 0, under_way: 0, oldest_at: null });
});

test("a deletion that nobody has taken is waiting, and one under a lease is under way", async () => {
  const insert = (leasedUntil: string | null) =>
    test_.db.owner.query(
      `insert into deletions (id, kind, target_id, organization_id, leased_until)
       values ($1, 'folder', $1, $2, $3)`,
      [newId(), organization.id, leasedUntil],
    );
  await insert(null);
  await insert("infinity");

  const deletions = (await readOutboxes(test_.db)).find(({ kind }) => kind === "deletions");
  expect(deletions).toMatchObject({ waiting: 1, under_way: 1, oldest_at: expect.any(Date) });
  expect((await listWaiting(test_.db, PAGE)).items).toContainEqual(
    expect.objectContaining({ kind: "deletion", organization_id: organization.id, code: "queued", count: 1 }),
  );
});

test("of processes that look at once one counts the orphans, and what it found is kept", async () => {
  const { db } = test_;
  expect((await readOrphanCounts(db)).counted_at).toBeNull();
  const { signal } = new AbortController();

  const counted = await Promise.all([countWhenDue(db, 10, signal), countWhenDue(db, 10, signal)]);

  expect(counted.toSorted()).toEqual([false, true]);
  const kept = await readOrphanCounts(db);
  expect(kept.counted_at).toBeInstanceOf(Date);
  expect(kept.organizations).toBeGreaterThan(0);
  expect(kept.counts).toMatchObject({ chunks_without_run: 0, documents_without_file: 0 });
  expect(kept.found).toEqual([]);
});

test("a process is listed while it runs, shown as silent after that, and forgotten after an hour", async () => {
  const { db } = test_;
  const facts = { kind: "worker", version: "0.10.0", identity: "1@here", queues: ["parse"] } as const;
  const fail = (error: unknown): void => {
    throw error;
  };
  const id = newId();
  const leave = announceProcess(db, { id, ...facts }, fail);
  await until("it is listed", async () => (await listProcesses(db)).length === 1);
  expect(await listProcesses(db)).toMatchObject([{ id, ...facts, is_alive: true }]);

  await db.owner.query("update processes set renewed_at = now() - interval '1 minute'");
  expect(await listProcesses(db)).toMatchObject([{ id, is_alive: false }]);

  await db.owner.query("update processes set renewed_at = now() - interval '2 hours'");
  const next = newId();
  const leaveNext = announceProcess(db, { id: next, ...facts }, fail);
  await until("the other is listed alone", async () =>
    (await listProcesses(db)).every((one) => one.id === next),
  );
  await Promise.all([leave(), leaveNext()]);
  expect(await listProcesses(db)).toEqual([]);
});
