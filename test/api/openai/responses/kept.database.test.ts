/** Kept responses: what a request opens of them, what lives on when one is deleted, and how much is kept. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readInputPage } from "../../../../src/api/openai/responses/kept/input-page.ts";
import type { KeptItem } from "../../../../src/api/openai/responses/input.ts";
import { inTenant } from "../../../../src/db/pool.ts";
import { deleteResponse } from "../../../../src/db/responses/responses.ts";
import { deleteOrganizationRows } from "../../../../src/db/tenancy/closed-organization.ts";
import { countResponseBytes, deleteExpired } from "../../../../src/db/upkeep/retention.ts";
import type { ListPage } from "../../../../src/schema/openai/list.ts";
import {
  type KeptResponses,
  callerIn,
  keptResponses,
  messageOf,
} from "../../../support/responses/kept-responses.ts";
import { type TestDatabase, createTestDatabase } from "../../../support/servers/database.ts";

let database: TestDatabase;
let kept: KeptResponses;

beforeAll(async () => {
  database = await createTestDatabase();
  kept = await keptResponses(database);
});
afterAll(() => database.drop());

const textsOf = (items: readonly KeptItem[]): unknown[] =>
  items.map((item) => (item as { content?: { text: string }[] }).content?.[0]?.text);
const remove = (id: string): Promise<boolean> =>
  inTenant(database.db, kept.organization, (sql) => deleteResponse(sql, kept.principal.user.id, id));
const rowsOf = async (table: "response_contents" | "response_items"): Promise<number> => {
  const { rows } = await database.db.owner.query<{ count: number }>(
    `select count(*)::int as count from ${table} where organization_id = $1`,
    [kept.organization.id],
  );
  return rows[0]!.count;
};
const pageOf = async (id: string, page: Partial<ListPage>) =>
  readInputPage(kept.deps, kept.organization, id, { limit: 1, order: "asc", ...page });

describe("a kept response of 4 MiB", () => {
  const texts = Array.from({ length: 8 }, (_, index) => `${index}${"x".repeat(512 * 1_024)}`);
  let id = "";
  beforeAll(async () => {
    ({ id } = await kept.keep({ asked: texts, answered: ["short"] }));
  });

  it("is looked up without being opened", async () => {
    kept.countOpened();
    expect(await kept.store.findRow(kept.principal, id)).toMatchObject({
      status: "completed",
      has_ended: true,
    });
    expect(kept.countOpened()).toBe(0);
  });

  it("is answered with what was answered, and nothing that was asked is opened", async () => {
    kept.countOpened();
    const { response } = await kept.store.find(kept.principal, id);
    expect(textsOf(response.output)).toEqual(["short"]);
    expect(kept.countOpened()).toBe(2);
  });

  it("opens one item for a page of one", async () => {
    kept.countOpened();
    const page = await pageOf(id, {});
    expect([textsOf(page.items), page.hasMore]).toEqual([[texts[0]], true]);
    expect(kept.countOpened()).toBe(1);
  });

  it("is too long to go on from, which its lengths say", async () => {
    kept.countOpened();
    await expect(kept.before(id)).rejects.toMatchObject({
      reason: "context_length_exceeded",
      param: "previous_response_id",
    });
    expect(kept.countOpened()).toBe(0);
  });

  it("is gone on from with its newest items if the others may be left out", async () => {
    kept.countOpened();
    const { items } = await kept.before(id, { mayTruncate: true });
    expect(textsOf(items)).toEqual([...texts.slice(-3), "short"]);
    expect(kept.countOpened()).toBe(4);
  });
});

it("opens no item for a conversation that no model is shown", async () => {
  const thought = { id: "rs_1", type: "reasoning", summary: ["x".repeat(3 * 1_024 * 1_024)] } as KeptItem;
  const { id } = await kept.keep({ items: [thought, messageOf("user", "q")], answered: ["a"] });
  kept.countOpened();
  const { items } = await kept.before(id);
  expect(textsOf(items)).toEqual(["q", "a"]);
  expect(kept.countOpened()).toBe(2);
});

describe("pages of the input", () => {
  it.each<[Partial<ListPage>, string, boolean]>([
    [{ limit: 2 }, "ab", true],
    [{ limit: 9 }, "abcde", false],
    [{ limit: 2, order: "desc" }, "ed", true],
    [{ limit: 2, after: "msg_b" }, "cd", true],
    [{ limit: 2, after: "msg_b", order: "desc" }, "a", false],
    [{ limit: 2, before: "msg_e" }, "cd", true],
    [{ limit: 2, before: "msg_c", order: "desc" }, "ed", false],
    [{ limit: 9, after: "msg_a", before: "msg_d" }, "bc", false],
    [{ limit: 2, after: "msg_d", before: "msg_b" }, "", false],
  ])("%j are %s", async (page, expected, hasMore) => {
    const items = ["a", "b", "c", "d", "e"].map(
      (text) => ({ ...messageOf("user", text), id: `msg_${text}` }) as KeptItem,
    );
    const { id } = await kept.keep({ items });
    const found = await pageOf(id, page);
    expect([textsOf(found.items).join(""), found.hasMore]).toEqual([expected, hasMore]);
    await expect(pageOf(id, { after: "msg_z" })).rejects.toMatchObject({ param: "after" });
  });
});

describe("a conversation", () => {
  it("stays whole when the responses that it began with are deleted or expire, and leaves nothing itself", async () => {
    const [contents, items, bytes] = [
      await rowsOf("response_contents"),
      await rowsOf("response_items"),
      await kept.bytesOf(kept.principal.user.id),
    ];
    const first = await kept.keep({ asked: ["1"], answered: ["one"] });
    const second = await kept.keep({ asked: ["2"], answered: ["two"], previousId: first.id });
    const third = await kept.keep({ asked: ["3"], answered: ["three"], previousId: second.id });
    await remove(first.id);
    await database.db.owner.query("update responses set expires_at = now() - interval '1 s' where id = $1", [
      second.id,
    ]);
    await deleteExpired(database.db);
    const { items: found } = await kept.before(third.id);
    expect(textsOf(found)).toEqual(["1", "one", "2", "two", "3", "three"]);
    expect(await rowsOf("response_items")).toBe(items + 6);
    await remove(third.id);
    expect(await rowsOf("response_contents")).toBe(contents);
    expect(await rowsOf("response_items")).toBe(items);
    expect(await kept.bytesOf(kept.principal.user.id)).toBe(bytes);
  });

  it("keeps the items of each response once", async () => {
    const items = await rowsOf("response_items");
    const first = await kept.keep({ asked: ["1"], answered: ["one"] });
    for (const asked of ["2a", "2b"])
      await kept.keep({ asked: [asked], answered: ["two"], previousId: first.id });
    expect(await rowsOf("response_items")).toBe(items + 6);
  });
});

it("is gone on from whole, or not at all, while it is deleted", async () => {
  const first = await kept.keep({ asked: ["1"], answered: ["one"] });
  const after = (asked: string) => kept.keep({ asked: [asked], previousId: first.id });
  const work = [after("2a"), after("2b"), remove(first.id), after("2c"), after("2d")];
  const ended = await Promise.allSettled(work);
  const refused = ended.filter((one) => one.status === "rejected");
  for (const { reason } of refused) expect(reason).toMatchObject({ reason: "previous_response_not_found" });
  const values = ended.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const goneOn = values.filter((value) => typeof value !== "boolean");
  for (const { id } of goneOn)
    expect(textsOf((await kept.before(id)).items).slice(0, 2)).toEqual(["1", "one"]);
  expect(refused.length + goneOn.length).toBe(4);
});

it("leaves nothing in an organization that is deleted", async () => {
  const own = await keptResponses(database);
  const first = await own.keep({ asked: ["1"], answered: ["one"] });
  await own.keep({ asked: ["2"], answered: ["two"], previousId: first.id });
  await database.db.maintenance.query("select close_organization($1)", [own.organization.id]);
  await deleteOrganizationRows(database.db, own.organization);
  for (const table of ["responses", "response_contents", "response_items", "response_usage"]) {
    const { rowCount } = await database.db.owner.query(`select from ${table} where organization_id = $1`, [
      own.organization.id,
    ]);
    expect([table, rowCount]).toEqual([table, 0]);
  }
});

it("is counted with those of all others for the operator", async () => {
  const before = await countResponseBytes(database.db.system);
  const owns = [await keptResponses(database), await keptResponses(database)];
  for (const own of owns) await own.keep({ asked: ["1"], answered: ["one"] });
  const [one, other] = await Promise.all(owns.map((own) => own.bytesOf(own.principal.user.id)));
  expect(await countResponseBytes(database.db.system)).toBe(before + one! + other!);
});

describe("a quota", () => {
  const refused = { reason: "response_quota_exceeded", status: 429 };
  const asked = ["x".repeat(10_000)];

  it("of a user lets through as many of parallel responses as have room", async () => {
    const own = await keptResponses(database, { bytesPerUser: 55_000 });
    const made = await Promise.allSettled(Array.from({ length: 12 }, () => own.keep({ asked })));
    const faults = made.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
    expect(faults).toHaveLength(7);
    for (const fault of faults) expect(fault).toMatchObject(refused);
    expect(await own.bytesOf(own.principal.user.id)).toBeLessThanOrEqual(55_000);
  });

  it("of an organization counts all its users, also in parallel", async () => {
    const own = await keptResponses(database, { bytesPerOrganization: 55_000 });
    const made = await Promise.allSettled(
      Array.from({ length: 12 }, () => own.keep({ asked, by: callerIn(own.organization) })),
    );
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
  });

  it("has room again after a response is deleted", async () => {
    const own = await keptResponses(database, { bytesPerUser: 15_000 });
    const { id } = await own.keep({ asked });
    await expect(own.keep({ asked })).rejects.toMatchObject(refused);
    await inTenant(database.db, own.organization, (sql) => deleteResponse(sql, own.principal.user.id, id));
    expect(await own.bytesOf(own.principal.user.id)).toBe(0);
    await own.keep({ asked });
  });
});
