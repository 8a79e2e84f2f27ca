/**
 * No input costs more than its size allows: every subject of every family is measured at n, 2n and 4n
 * characters.
 */
import { describe, expect, test } from "vitest";
import { CHUNKER_NAMES } from "../../src/chunkers/index.ts";
import { API_ROUTES } from "../../src/api/routes/index.ts";
import { TOOL_IDS } from "../../src/domain/tool-ids.ts";
import type { FamilyName } from "./families.ts";
import { findingsOf, IN_TESTS, Measurer } from "./measure.ts";
import { parsedTypes } from "./subjects/parsers.ts";

const PATIENCE_MS = 600_000;

/** Files that anybody may send, and what is measured in a second; the night measures every family. */
const QUICK: readonly FamilyName[] = [
  "parsers of text",
  "parsers of containers",
  "responses",
  "keys and seals",
  "events",
  "functions",
];

async function namesOf(family: FamilyName): Promise<string[]> {
  const measurer = new Measurer(family, IN_TESTS);
  const subjects = await measurer.list();
  await measurer.close();
  return subjects.map(({ name }) => name);
}

/** Returns the entries of a table that no subject names. */
const missingFrom = (names: readonly string[], entries: readonly string[]): string[] =>
  entries.filter((entry) => !names.some((name) => name.includes(entry)));

describe("every entry of a table is measured", () => {
  test("parsers", async () => {
    const names = [...(await namesOf("parsers of text")), ...(await namesOf("parsers of containers"))];
    expect(
      missingFrom(
        names,
        parsedTypes().map((fileType) => `parser ${fileType},`),
      ),
    ).toEqual([]);
  });

  test("chunkers", async () => {
    expect(
      missingFrom(
        await namesOf("chunkers"),
        CHUNKER_NAMES.map((name) => `chunker ${name},`),
      ),
    ).toEqual([]);
  });

  test("tools, but those of other servers", async () => {
    const own = TOOL_IDS.filter((id) => id !== "mcp");
    expect(
      missingFrom(
        await namesOf("chat"),
        own.map((id) => `tool ${id},`),
      ),
    ).toEqual([]);
  });

  test("bodies, queries and paths of routes", async () => {
    const parts = API_ROUTES.flatMap((route) => [
      ...(route.body === undefined ? [] : [`body of ${route.method} ${route.fullPath}`]),
      ...Object.keys(route.query?.shape ?? {}).map(
        (name) => `query ${name} of ${route.method} ${route.fullPath}`,
      ),
      ...Object.keys(route.params?.shape ?? {}).map(
        (name) => `path ${name} of ${route.method} ${route.fullPath}`,
      ),
    ]);
    expect(missingFrom(await namesOf("requests"), parts)).toEqual([]);
  });
});

test.each(QUICK)("what it costs grows as its input does: %s", { timeout: PATIENCE_MS }, async (family) => {
  expect(await findingsOf(family, IN_TESTS)).toEqual([]);
});
