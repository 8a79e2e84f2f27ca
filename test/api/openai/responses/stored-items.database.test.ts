/** Items of stored responses: what a request does not refer to is not opened for it. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { InputReading } from "../../../../src/api/openai/responses/reading.ts";
import { WRITTEN_WITHIN_MS } from "../../../../src/api/openai/responses/store.ts";
import { newId } from "../../../../src/domain/ids.ts";
import { type KeptResponses, callerIn, keptResponses } from "../../../support/responses/kept-responses.ts";
import { type TestDatabase, createTestDatabase } from "../../../support/servers/database.ts";

let database: TestDatabase;
let kept: KeptResponses;

beforeAll(async () => {
  database = await createTestDatabase();
  kept = await keptResponses(database);
});
afterAll(() => database.drop());
beforeEach(() => {
  kept.countOpened();
});

const readingOf = (
  referredIds: readonly string[],
  { signal = new AbortController().signal, principal = kept.principal, characters = 0 } = {},
) =>
  new InputReading(
    { deps: kept.deps, store: kept.store, files: {} as never },
    { principal, signal, lookUp: async () => principal, referredIds, characters, opened: () => undefined },
  );

it("opens an item of its own and nothing else of its response", async () => {
  const { itemIds } = await kept.keep({ asked: ["q"], answered: ["a", "b"] });
  const found = await readingOf(itemIds).reference(itemIds[1]!, "input");
  expect(found?.id).toBe(itemIds[1]);
  expect(kept.countOpened()).toBe(1);
});

describe("of a response", () => {
  it("bounds the characters that they bring, each as often as it is referred to", async () => {
    const { itemIds } = await kept.keep({ answered: ["x".repeat(1_024 * 1_024)] });
    const reading = readingOf(itemIds);
    await reading.reference(itemIds[0]!, "input[0].id");
    await expect(reading.reference(itemIds[0]!, "input[1].id")).rejects.toMatchObject({
      code: "bad_request",
      param: "input[1].id",
    });
  });

  it("finds none whose documents are out of reach, and asks for them once", async () => {
    const { itemIds } = await kept.keep({ answered: ["a", "b"], documentIds: [newId()] });
    kept.countOpened();
    const reading = readingOf(itemIds);
    for (const id of itemIds) expect(await reading.reference(id, "input")).toBeUndefined();
    expect([...reading.documentIds]).toEqual([]);
    expect(kept.countOpened()).toBe(0);
  });

  it("finds none of other callers, and none that is no id of ours", async () => {
    const { itemIds } = await kept.keep({ answered: ["a"] });
    kept.countOpened();
    const reading = readingOf([itemIds[0]!, "msg_1"], { principal: callerIn(kept.organization) });
    expect(await reading.reference(itemIds[0]!, "input")).toBeUndefined();
    expect(await reading.reference("msg_1", "input")).toBeUndefined();
    expect(kept.countOpened()).toBe(0);
  });

  it("opens nothing more for a client that has left", async () => {
    const { itemIds } = await kept.keep({ answered: ["a"] });
    kept.countOpened();
    const reading = readingOf(itemIds, { signal: AbortSignal.abort() });
    await expect(reading.reference(itemIds[0]!, "input")).rejects.toMatchObject({ name: "AbortError" });
    expect(kept.countOpened()).toBe(0);
  });
});

it("weighs an item before it is opened, together with the conversation that it comes after", async () => {
  const { itemIds } = await kept.keep({ answered: ["x".repeat(1_024 * 1_024)] });
  kept.countOpened();
  const reading = readingOf(itemIds, { characters: 1_500_000 });
  await expect(reading.reference(itemIds[0]!, "input[0].id")).rejects.toMatchObject({ code: "bad_request" });
  expect(kept.countOpened()).toBe(0);
});

it("waits for the end of what was answered, however long the database takes to write it", async () => {
  const lock = await database.db.owner.connect();
  let found: unknown;
  try {
    await kept.keep({
      answered: ["a"],
      async beforeEnd() {
        await lock.query("begin; lock table responses in share mode");
      },
      async answering(itemIds) {
        const reference = readingOf(itemIds).reference(itemIds[0]!, "input");
        // Longer than what other processes write is waited for. It must not be over before the lock is.
        await Promise.race([reference, sleep(4 * WRITTEN_WITHIN_MS)]);
        await lock.query("rollback");
        found = await reference;
      },
    });
  } finally {
    lock.release(true);
  }
  expect(found).toBeDefined();
});
