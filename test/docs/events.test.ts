/** docs/events.md names every type of event, with the fields that the contract describes for its data. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EVENT_TYPES, type EventType } from "../../src/domain/events/event-types.ts";
import { EVENT_DATA } from "../../src/schema/event-data.ts";

const DOCUMENT = readFileSync(join(import.meta.dirname, "../../docs/events.md"), "utf8");

interface Row {
  readonly types: string[];
  /** All that its last cell has in backquotes: fields, some of their values, and other types. */
  readonly words: string[];
}

const quoted = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);

/** The rows of the table of types; `.failed` after `document.completed` is `document.failed`. */
function rows(): Row[] {
  const table = DOCUMENT.slice(DOCUMENT.indexOf("| types |"), DOCUMENT.indexOf("[openapi.json]"));
  return table
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => {
      const [, names = "", , data = ""] = line.split("|");
      const [first = "", ...others] = quoted(names);
      const subject = first.slice(0, first.indexOf("."));
      return {
        types: [first, ...others.map((name) => (name.startsWith(".") ? subject + name : name))],
        words: quoted(data),
      };
    });
}

const fieldsOf = (types: readonly string[]): string[] =>
  types.flatMap((type) => Object.keys(EVENT_DATA[type as EventType].shape));

test("the table of types has each type once", () => {
  expect(
    rows()
      .flatMap(({ types }) => types)
      .toSorted(),
  ).toEqual([...EVENT_TYPES].toSorted());
});

test.each(rows())("the row of $types.0 has each field of its data", ({ types, words }) => {
  expect(fieldsOf(types).filter((field) => !words.includes(field))).toEqual([]);
});

test("the table has no field that no type of its row has", () => {
  const values = ["upload", "reprocess", "batch", "replace", "organization", "user", "api_key", "secret"];
  const strange = rows().flatMap(({ types, words }) => {
    const known = [...fieldsOf(types), ...values];
    return words.filter((word) => !known.includes(word) && !word.startsWith("."));
  });
  expect(strange).toEqual([]);
});
