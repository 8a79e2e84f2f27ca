/** Which text beside the passages of a search a model is given, and how much of it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { withNeighbours } from "../../src/agents/neighbours.ts";
import type { Passage } from "../../src/domain/work/turn.ts";
import { type TestDatabase, createTestDatabase } from "../support/servers/database.ts";
import {
  type SearchSpace,
  type WrittenDocument,
  createOrganization,
  createSpace,
  publishDocuments,
} from "../support/stack/search-space.ts";

const LONG = `begin ${"word ".repeat(1_000)}🦦end`;
const TEXTS = ["zero", "one", "two", "three", "four", LONG, "six", LONG, "eight"];

let database: TestDatabase;
let target: SearchSpace;
let document: WrittenDocument;
beforeAll(async () => {
  database = await createTestDatabase();
  target = await createSpace(database.db, await createOrganization(database.db));
  [document] = (await publishDocuments(database.db, target, [
    { chunks: TEXTS.map((text) => ({ text })) },
  ])) as [WrittenDocument];
});
afterAll(() => database.drop());

const passage = (at: number): Passage => ({
  chunk_id: document.chunkIds[at]!,
  document_id: document.id,
  document_name: "document.txt",
  chunk_index: at,
  page: null,
  text: TEXTS[at]!,
});
async function beside(indexes: readonly number[], maxCharacters = 48_000): Promise<(string[] | undefined)[]> {
  const spaces = [{ ...target.space, role: "viewer" as const, is_private: false }];
  const scope = { organization: target.organization, spaces };
  const found = await withNeighbours(database.db, scope, indexes.map(passage), maxCharacters);
  expect(found.map((one) => one.chunk_id)).toEqual(indexes.map((at) => document.chunkIds[at]));
  return found.map(({ context }) => context?.map(({ side, text }) => `${side} ${text}`));
}

test.each([
  ["one in the middle", [2], [["before one", "after three"]]],
  ["the first chunk", [0], [["after one"]]],
  ["two with one between them, which is there once", [1, 3], [["before zero", "after two"], ["after four"]]],
  ["two beside each other, neither of which is repeated", [2, 3], [["before one"], ["after four"]]],
  ["a passage between two others", [1, 2, 3], [["before zero"], undefined, ["after four"]]],
  ["only the best three", [8, 0, 2, 4], [[expect.any(String)], ["after one"], ["after three"], undefined]],
  ["none", [], []],
])("%s", async (_, indexes, expected) => {
  expect(await beside(indexes)).toEqual(expected);
});

test("of a long neighbour the nearest characters, whole ones", async () => {
  const [[before, after] = []] = await beside([6]);
  expect([before!.length, after!.length]).toEqual(["before ".length + 2_000, "after ".length + 2_000]);
  expect([before!.endsWith("🦦end"), after!.startsWith("after begin")]).toEqual([true, true]);
  expect([before, after].every((text) => text!.isWellFormed())).toBe(true);
});

test("all together within the bound, and nothing without room", async () => {
  expect(await beside([2, 8], "one".length)).toEqual([["before one"], undefined]);
  expect(await beside([2], 0)).toEqual([undefined]);
});

test("nothing out of reach", async () => {
  const scope = { organization: target.organization, spaces: [] };
  expect(await withNeighbours(database.db, scope, [passage(2)], 48_000)).toEqual([passage(2)]);
});
