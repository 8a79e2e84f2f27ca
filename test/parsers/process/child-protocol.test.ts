/** What passes between the worker and a parser process counts and checks the places of units. */

import { describe, expect, test } from "vitest";
import { packPlaces } from "../../../src/domain/locations/packed.ts";
import type { TextUnit } from "../../../src/domain/text-unit.ts";
import { unitMessages, withCheckedPlaces } from "../../../src/parsers/process/child-protocol.ts";

const unit = (text: string, places?: unknown): TextUnit => ({
  type: "paragraph",
  text,
  page: null,
  heading_path: [],
  ...(places === undefined ? {} : { places: places as NonNullable<TextUnit["places"]> }),
});

test("a message holds fewer units if they have many places", () => {
  const places = packPlaces(
    Array.from({ length: 1_000 }, (_, at) => ({ from: at, to: at + 1, spot: { element: `element[${at}]` } })),
  );
  const text = "x".repeat(1_000);
  const messages = (units: readonly TextUnit[]): number => [...unitMessages(units)].length;
  expect(messages(Array.from({ length: 100 }, () => unit(text)))).toBe(1);
  expect(messages(Array.from({ length: 100 }, () => unit(text, places)))).toBeGreaterThan(15);
});

describe("a unit from a process that may be compromised", () => {
  test("keeps places that are some", () => {
    const placed = unit("words", packPlaces([{ from: 0, to: 5, spot: { lines: [1, 1] } }]));
    expect(withCheckedPlaces(placed)).toBe(placed);
    expect(withCheckedPlaces(unit("words"))).toEqual(unit("words"));
  });

  test.each([
    ["null", null],
    ["a number", 7],
    ["no list of contexts", { contexts: {}, runs: "" }],
    ["a name that cannot be stored", { contexts: [{ part: "a\0" }], runs: "AAAA" }],
  ])("loses places that are %s, and keeps its text", (_name, places) => {
    expect(withCheckedPlaces(unit("words", places))).toEqual(unit("words"));
  });
});
