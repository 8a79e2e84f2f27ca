import { expect, test } from "vitest";
import { filterSql, parameters } from "../../../src/db/filter-sql.ts";
import { AttributeFilter, AttributesInput } from "../../../src/schema/openai/attributes.ts";
import { problemsOf } from "../../support/clients/problems.ts";

const COLUMNS = { "attributes.*": "t.meta" };

function sqlOf(filter: unknown): { sql: string; values: unknown[] } {
  const params = parameters();
  return { sql: filterSql([AttributeFilter.parse(filter)], COLUMNS, params), values: params.values };
}

test("a nested filter is one expression whose keys and values are parameters", () => {
  const filter = {
    type: "and",
    filters: [
      { type: "eq", key: "kind'; --", value: "a" },
      {
        type: "or",
        filters: [
          { type: "nin", key: "year", value: [2024] },
          { type: "ne", key: "wild", value: true },
        ],
      },
    ],
  };
  expect(sqlOf(filter)).toEqual({
    sql:
      "((t.meta -> $1::text) = $2::jsonb and " +
      "(not coalesce(((t.meta -> $3::text) = any($4::jsonb[])), false) or " +
      "(t.meta -> $5::text) is distinct from $6::jsonb))",
    values: ["kind'; --", '"a"', "year", ["2024"], "wild", "true"],
  });
});

const leaf = { type: "eq", key: "year", value: 1 };
const nested = (depth: number): unknown =>
  depth === 0 ? leaf : { type: "or", filters: [nested(depth - 1)] };

test.each([
  ["64 filters", { type: "and", filters: Array.from({ length: 63 }, () => leaf) }, true],
  ["65 filters", { type: "and", filters: Array.from({ length: 64 }, () => leaf) }, false],
  ["8 levels", nested(8), true],
  ["9 levels", nested(9), false],
  ["a list of 100", { type: "in", key: "year", value: Array.from({ length: 100 }, () => 1) }, true],
  ["a list of 101", { type: "in", key: "year", value: Array.from({ length: 101 }, () => 1) }, false],
  ["a key of 64 characters", { ...leaf, key: "k".repeat(64) }, true],
  ["a key of 65 characters", { ...leaf, key: "k".repeat(65) }, false],
  ["a value of 512 characters", { ...leaf, value: "v".repeat(512) }, true],
  ["a value of 513 characters", { ...leaf, value: "v".repeat(513) }, false],
  ["null", { ...leaf, value: null }, false],
  ["an unknown member", { ...leaf, values: [1] }, false],
  ["a comparison with filters beside it", { ...leaf, filters: [leaf] }, false],
  ["an unknown member beside filters", { type: "and", filters: [leaf], filter: leaf }, false],
  ["a million filters", { type: "and", filters: Array.from({ length: 1_000_000 }, () => leaf) }, false],
])("%s", (_, filter, isTaken) => {
  expect(AttributeFilter.safeParse(filter).success).toBe(isTaken);
});

test.each([{}, [], null])("an attribute that is %j is told what it may be", (value) => {
  expect(problemsOf(AttributesInput, { a: value })).toMatchObject([
    { loc: ["body", "a"], msg: "Value error, must be a string, a number, true or false" },
  ]);
});

test("an attribute that is too long a text is told its bound", () => {
  expect(problemsOf(AttributesInput, { a: "v".repeat(513) })).toMatchObject([
    { loc: ["body", "a"], msg: "String should have at most 512 characters" },
  ]);
});

test("a single value of `in` is told which values a list of it has", () => {
  expect(problemsOf(AttributeFilter, { type: "in", key: "year", value: 2026 })).toMatchObject([
    {
      loc: ["body", "value"],
      msg:
        "Value error, must be a list of at most 100 values, each a string of at most 512 characters, a number, " +
        "true or false",
    },
  ]);
});
