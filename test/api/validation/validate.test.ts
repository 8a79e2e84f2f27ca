/** How the parts of a request are checked, and what their problems say. */
import { expect, test } from "vitest";
import { z } from "zod";
import { findUnusable, parsePart } from "../../../src/api/validation/validate.ts";
import { Uuid } from "../../../src/schema/fields.ts";
import { problem, problemsOf } from "../../support/clients/problems.ts";

test("an absent choice is missing, not a wrong one", () => {
  expect(problemsOf(z.object({ role: z.enum(["a", "b"]), kind: z.literal("x") }), {})).toMatchObject([
    { type: "missing", loc: ["body", "role"], input: {} },
    { type: "missing", loc: ["body", "kind"] },
  ]);
});

test("an unexpected key of a strict schema is named", () => {
  expect(problemsOf(z.strictObject({ a: z.string() }), { a: "x", z: 2 })).toEqual([
    problem("extra_forbidden", ["body", "z"], "Extra inputs are not permitted", 2),
  ]);
});

const Page = z.object({
  page: z.int().min(1).default(1),
  limit: z.int().max(100).default(20),
  flag: z.boolean().optional(),
  tags: z.array(z.string()).optional(),
});

test("a query's strings count as the numbers and booleans that they spell", () => {
  expect(parsePart(Page, { page: "3", flag: "Yes", tags: "a" }, "query")).toEqual({
    value: { page: 3, limit: 20, flag: true, tags: ["a"] },
  });
  expect(parsePart(Page, { page: ["3", "4"], tags: ["a", "b"] }, "query")).toEqual({
    value: { page: 4, limit: 20, tags: ["a", "b"] },
  });
});

test("a list in a query may be one value, also where it is read further", () => {
  const schema = z.object({
    order_by: z
      .array(z.string())
      .optional()
      .transform((terms) => terms ?? []),
  });
  expect(parsePart(schema, { order_by: "-at" }, "query")).toEqual({ value: { order_by: ["-at"] } });
});

test("a wrong value of a list in a query is named, also if it is the only one", () => {
  const schema = z.object({ types: z.array(z.enum(["a", "b"])) });
  const words = ["Input should be 'a' or 'b'", "c", { expected: "'a' or 'b'" }] as const;
  expect(problemsOf(schema, { types: "c" }, "query")).toEqual([
    problem("literal_error", ["query", "types", 0], ...words),
  ]);
  expect(problemsOf(schema, { types: ["a", "c"] }, "query")).toEqual([
    problem("literal_error", ["query", "types", 1], ...words),
  ]);
});

test("a query's strings that spell nothing are described as FastAPI does", () => {
  expect(problemsOf(Page, { page: "x", limit: "101", flag: "zz" }, "query")).toEqual([
    problem(
      "int_parsing",
      ["query", "page"],
      "Input should be a valid integer, unable to parse string as an integer",
      "x",
    ),
    problem("less_than_equal", ["query", "limit"], "Input should be less than or equal to 100", "101", {
      le: 100,
    }),
    problem(
      "bool_parsing",
      ["query", "flag"],
      "Input should be a valid boolean, unable to interpret input",
      "zz",
    ),
  ]);
  expect(problemsOf(Page, { page: "0" }, "query")).toEqual([
    problem("greater_than_equal", ["query", "page"], "Input should be greater than or equal to 1", "0", {
      ge: 1,
    }),
  ]);
  expect(problemsOf(Page, { page: "1.5" }, "query")).toMatchObject([{ type: "int_parsing" }]);
  expect(problemsOf(z.object({ path: z.string() }), {}, "query")).toEqual([
    problem("missing", ["query", "path"], "Field required", null),
  ]);
});

test.each([
  ["abc", "invalid length: found 3"],
  ["00000000", "invalid length: found 8"],
  ["00000000-0000-0000-0000-00000000000g", "invalid character: found `g` at 35"],
  ["0000000-0000-0000-0000-000000000000", "invalid group length in group 0: expected 8, found 7"],
  ["00000000-0000-0000-0000-0000000000000", "invalid group length in group 4: expected 12, found 13"],
  ["00000000-0000", "invalid group count: expected 5, found 2"],
])("the id %s is refused with what is wrong in it", (id, error) => {
  expect(problemsOf(z.object({ id: Uuid }), { id }, "path")).toEqual([
    problem("uuid_parsing", ["path", "id"], `Input should be a valid UUID, ${error}`, id, { error }),
  ]);
});

test("an id of any version is taken, in lower case", () => {
  expect(Uuid.parse("ABCDEF00-1111-F222-0333-444444444444")).toBe("abcdef00-1111-f222-0333-444444444444");
});

test("of a union the alternative is described that the value came closest to", () => {
  const schema = z.object({ content: z.union([z.string(), z.array(z.object({ text: z.string() }))]) });
  expect(problemsOf(schema, { content: 5 })).toMatchObject([
    { type: "string_type", loc: ["body", "content"] },
  ]);
  expect(problemsOf(schema, { content: [{ text: 1 }] })).toMatchObject([
    { type: "string_type", loc: ["body", "content", 0, "text"], input: 1 },
  ]);
});

test("a discriminator outside its list is a literal error", () => {
  const schema = z.object({
    m: z.discriminatedUnion("role", [z.object({ role: z.literal("a") }), z.object({ role: z.literal("b") })]),
  });
  expect(problemsOf(schema, { m: { role: "c" } })).toEqual([
    problem("literal_error", ["body", "m", "role"], "Input should be 'a' or 'b'", "c", {
      expected: "'a' or 'b'",
    }),
  ]);
  expect(problemsOf(schema, { m: {} })).toMatchObject([{ type: "missing", loc: ["body", "m", "role"] }]);
});

test("what is echoed is bounded and never a secret", () => {
  const schema = z.object({ text: z.int(), list: z.int(), api_key: z.int() });
  const [text, list, key] = problemsOf(schema, {
    text: "x".repeat(5_000),
    list: Array(2_000).fill(1),
    api_key: "sk-secret",
  }) as { input: unknown }[];
  expect(JSON.stringify(text!.input).length).toBeLessThan(1_024);
  expect(list!.input).toEqual([]);
  expect(key!.input).toBe("[redacted]");
  expect(JSON.stringify(problemsOf(z.object({ a: z.string() }), { password: "hunter2" }))).not.toContain(
    "hunter2",
  );
});

test("NUL and half surrogates are found wherever they are", () => {
  expect(findUnusable({ a: ["x", "b\0"] }, "body")).toMatchObject([
    { type: "value_error", loc: ["body", "a", 1] },
  ]);
  expect(findUnusable({ a: "\ud800" }, "body")).toMatchObject([{ type: "value_error", loc: ["body", "a"] }]);
  expect(findUnusable({ "k\0": 1 }, "body")).toMatchObject([{ type: "value_error", loc: ["body"] }]);
  expect(findUnusable(JSON.parse("[".repeat(200_000) + "]".repeat(200_000)), "body")).toEqual([]);
  expect(findUnusable({ a: ["ü", "😀"] }, "body")).toEqual([]);
});

test("a parameter named like what every object inherits is an unknown one like any other", () => {
  const schema = z.object({ page: z.int().optional() });
  for (const name of ["toString", "constructor", "__proto__", "hasOwnProperty"])
    expect(parsePart(schema, { [name]: "1", page: "2" }, "query")).toEqual({ value: { page: 2 } });
});
