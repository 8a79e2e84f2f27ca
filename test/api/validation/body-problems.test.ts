/** Problems of bodies: those of real FastAPI answers, reproduced through the same schemas in zod. */
import { expect, test } from "vitest";
import { z } from "zod";
import { TimestampInput, Uuid } from "../../../src/schema/fields.ts";
import { problem, problemsOf } from "../../support/clients/problems.ts";

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
