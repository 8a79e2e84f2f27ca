/** The bodies of real FastAPI answers, reproduced through the same schemas in zod. */
import { expect, test } from "vitest";
import { z } from "zod";
import { answerError } from "../../../src/api/errors.ts";
import { findUnusable, parsePart } from "../../../src/api/validation/validate.ts";
import { Uuid, TimestampInput } from "../../../src/schema/common.ts";
import { type Problem, ValidationProblems } from "../../../src/schema/requests/problem.ts";

const Message = z.object({ role: z.enum(["system", "user", "assistant"]), content: z.string() });
const Body = z.object({
  model: z.string(),
  messages: z.array(Message).min(1),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(2).optional(),
  max_tokens: z.int().gt(0).optional(),
  ids: z.array(Uuid).max(2).optional(),
  meta: z.record(z.string(), z.unknown()).optional(),
  name: z.string().min(1).max(3).optional(),
  pat: z
    .string()
    .regex(/^[a-z]+$/)
    .optional(),
  when: TimestampInput.optional(),
});
const message = { role: "user", content: "hi" };
const ok = { model: "m", messages: [message] };

const problem = (
  ...[type, loc, msg, input, ctx]: [
    type: string,
    loc: (string | number)[],
    msg: string,
    input: unknown,
    ctx?: Record<string, unknown>,
  ]
) => ({
  type,
  loc,
  msg,
  input,
  ...(ctx === undefined ? {} : { ctx }),
});

function problemsOf(schema: z.ZodType, input: unknown, part: "body" | "query" | "path" = "body"): unknown[] {
  const parsed = parsePart(schema, input, part);
  const problems: Problem[] = "problems" in parsed ? parsed.problems : [];
  return answerError(new ValidationProblems(problems)).body.detail as unknown[];
}

const OBJECT = "Input should be a valid dictionary or object to extract fields from";
const CASES: [name: string, given: unknown, expected: unknown[]][] = [
  [
    "an empty object",
    {},
    [
      problem("missing", ["body", "model"], "Field required", {}),
      problem("missing", ["body", "messages"], "Field required", {}),
    ],
  ],
  ["no body", undefined, [problem("missing", ["body"], "Field required", null)]],
  ["an array", [], [problem("model_attributes_type", ["body"], OBJECT, [])]],
  ["null", null, [problem("model_attributes_type", ["body"], OBJECT, null)]],
  [
    "text without a JSON type",
    '{"model":1}',
    [problem("model_attributes_type", ["body"], OBJECT, '{"model":1}')],
  ],
  [
    "every wrong type",
    {
      model: 1,
      messages: [{ role: "tool", content: 5 }],
      stream: "maybe",
      temperature: "hot",
      max_tokens: 1.5,
      ids: ["x", "y"],
      meta: [],
      name: "",
      pat: "9",
      when: "zz",
    },
    [
      problem("string_type", ["body", "model"], "Input should be a valid string", 1),
      problem(
        "literal_error",
        ["body", "messages", 0, "role"],
        "Input should be 'system', 'user' or 'assistant'",
        "tool",
        { expected: "'system', 'user' or 'assistant'" },
      ),
      problem("string_type", ["body", "messages", 0, "content"], "Input should be a valid string", 5),
      problem(
        "bool_parsing",
        ["body", "stream"],
        "Input should be a valid boolean, unable to interpret input",
        "maybe",
      ),
      problem(
        "float_parsing",
        ["body", "temperature"],
        "Input should be a valid number, unable to parse string as a number",
        "hot",
      ),
      problem(
        "int_from_float",
        ["body", "max_tokens"],
        "Input should be a valid integer, got a number with a fractional part",
        1.5,
      ),
      problem(
        "uuid_parsing",
        ["body", "ids", 0],
        "Input should be a valid UUID, invalid character: found `x` at 0",
        "x",
        { error: "invalid character: found `x` at 0" },
      ),
      problem(
        "uuid_parsing",
        ["body", "ids", 1],
        "Input should be a valid UUID, invalid character: found `y` at 0",
        "y",
        { error: "invalid character: found `y` at 0" },
      ),
      problem("dict_type", ["body", "meta"], "Input should be a valid dictionary", []),
      problem("string_too_short", ["body", "name"], "String should have at least 1 character", "", {
        min_length: 1,
      }),
      problem("string_pattern_mismatch", ["body", "pat"], "String should match pattern '^[a-z]+$'", "9", {
        pattern: "^[a-z]+$",
      }),
      problem(
        "datetime_from_date_parsing",
        ["body", "when"],
        "Input should be a valid datetime or date, input is too short",
        "zz",
        { error: "input is too short" },
      ),
    ],
  ],
  [
    "values out of their bounds",
    {
      model: "m",
      messages: "s",
      stream: null,
      temperature: 3,
      max_tokens: 0,
      ids: [
        "00000000-0000-0000-0000-000000000000",
        "00000000-0000-0000-0000-000000000000",
        "00000000-0000-0000-0000-000000000000",
      ],
      name: "abcd",
    },
    [
      problem("list_type", ["body", "messages"], "Input should be a valid list", "s"),
      problem("bool_type", ["body", "stream"], "Input should be a valid boolean", null),
      problem("less_than_equal", ["body", "temperature"], "Input should be less than or equal to 2", 3, {
        le: 2,
      }),
      problem("greater_than", ["body", "max_tokens"], "Input should be greater than 0", 0, { gt: 0 }),
      problem(
        "too_long",
        ["body", "ids"],
        "List should have at most 2 items after validation, not 3",
        Array(3).fill("00000000-0000-0000-0000-000000000000"),
        {
          field_type: "List",
          max_length: 2,
          actual_length: 3,
        },
      ),
      problem("string_too_long", ["body", "name"], "String should have at most 3 characters", "abcd", {
        max_length: 3,
      }),
    ],
  ],
  [
    "too little",
    { model: "m", messages: [], temperature: -1, max_tokens: "abc" },
    [
      problem(
        "too_short",
        ["body", "messages"],
        "List should have at least 1 item after validation, not 0",
        [],
        { field_type: "List", min_length: 1, actual_length: 0 },
      ),
      problem(
        "greater_than_equal",
        ["body", "temperature"],
        "Input should be greater than or equal to 0",
        -1,
        { ge: 0 },
      ),
      problem(
        "int_parsing",
        ["body", "max_tokens"],
        "Input should be a valid integer, unable to parse string as an integer",
        "abc",
      ),
    ],
  ],
  [
    "elements of a wrong type",
    { ...ok, messages: ["x"], ids: [1] },
    [
      problem("model_attributes_type", ["body", "messages", 0], OBJECT, "x"),
      problem("uuid_type", ["body", "ids", 0], "UUID input should be a string, bytes or UUID object", 1),
    ],
  ],
  [
    "lists for scalars",
    { ...ok, max_tokens: [], ids: "q" },
    [
      problem("int_type", ["body", "max_tokens"], "Input should be a valid integer", []),
      problem("list_type", ["body", "ids"], "Input should be a valid list", "q"),
    ],
  ],
];

test.each(CASES)("a body with %s is described as FastAPI does", (_name, given, expected) => {
  expect(problemsOf(Body, given)).toEqual(expected);
});

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
