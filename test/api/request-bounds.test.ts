/**
 * Every list, text and object with any keys of a request has a bound, which is checked before its content.
 */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { parsePart } from "../../src/api/validation/validate.ts";
import { answerError } from "../../src/api/errors/answer-error.ts";
import { ValidationProblems } from "../../src/schema/requests/problem.ts";
import { record } from "../../src/schema/requests/record.ts";
import { type NamedSchema, partsOf, requestSchemas } from "../support/clients/request-schemas.ts";

/** True if a text has a bound: a check, or a format whose texts have one length. */
const hasMaximum = (schema: z.ZodType): boolean =>
  schema instanceof z.ZodGUID ||
  (schema.def.checks ?? []).some((check) => check._zod.def.check === "max_length");
const declaresKeys = (schema: z.ZodType): boolean =>
  typeof (schema.meta()?.["override"] as { maxProperties?: number } | undefined)?.maxProperties === "number";

/** The places without a bound, as paths of field names. */
function unbounded(schema: z.ZodType, path: string, isPiped = false): string[] {
  const own = (() => {
    if (schema instanceof z.ZodString || schema instanceof z.ZodStringFormat || schema instanceof z.ZodArray)
      return !hasMaximum(schema);
    return schema instanceof z.ZodRecord && !isPiped;
  })();
  const inner = Object.entries(partsOf(schema)).flatMap(([name, part]) => {
    const isBehindBound = name === ">" && schema instanceof z.ZodPipe && declaresKeys(schema.in as z.ZodType);
    return unbounded(part, `${path}.${name}`, isBehindBound);
  });
  return own ? [path, ...inner] : inner;
}

describe.each(requestSchemas())("$name", ({ name, schema }: NamedSchema) => {
  test("has a bound on every list, object with any keys, and text", () => {
    expect(unbounded(schema, name)).toEqual([]);
  });
});

test("the walk finds what has no bound", () => {
  const schema = z.object({
    a: z.string().optional(),
    b: z.array(z.string().max(3)),
    c: z.record(z.string(), z.unknown()).nullish(),
    d: z.union([z.string(), z.int()]),
  });
  expect(unbounded(schema, "x")).toEqual(["x.a.?", "x.b", "x.c.?.?", "x.d.|0"]);
});

test("no element of a list that is too long is checked", () => {
  let looks = 0;
  const element = z.custom(() => (looks += 1) < 0);
  const parsed = parsePart(
    z.object({ ids: z.array(element).max(3).nullish() }),
    { ids: Array.from({ length: 50_000 }, () => 1) },
    "body",
  );
  expect(parsed).toMatchObject({
    problems: [{ type: "too_long", loc: ["body", "ids"], ctx: { max_length: 3, actual_length: 50_000 } }],
  });
  expect(looks).toBe(0);
});

test("no member of an object with too many keys is checked", () => {
  let looks = 0;
  const value = z.custom(() => (looks += 1) < 0);
  const given = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${index}`, 1]));
  const parsed = parsePart(z.object({ meta: record(value, 3).nullish() }), { meta: given }, "body");
  expect(parsed).toMatchObject({
    problems: [
      {
        type: "too_long",
        loc: ["body", "meta"],
        msg: "Dictionary should have at most 3 items after validation, not 50000",
      },
    ],
  });
  expect(looks).toBe(0);
});

test("an object with any keys refuses what is no object, and ignores __proto__", () => {
  const schema = z.object({ meta: record(z.unknown(), 3).nullish() });
  for (const meta of [1, "x", []])
    expect(parsePart(schema, { meta }, "body")).toMatchObject({
      problems: [{ type: "dict_type", loc: ["body", "meta"] }],
    });
  expect(parsePart(schema, { meta: null }, "body")).toEqual({ value: { meta: null } });
  expect(parsePart(schema, JSON.parse('{"meta":{"__proto__":{"admin":true},"a":1}}'), "body")).toMatchObject({
    problems: [
      {
        type: "value_error",
        loc: ["body", "meta", "__proto__"],
        msg: "Value error, the key __proto__ is not allowed",
      },
    ],
  });
});

test("a hundred problems are reported, and then how many more there are", () => {
  const parsed = parsePart(
    z.array(z.string().max(1)).max(1_000),
    Array.from({ length: 1_000 }, () => 1),
    "body",
  ) as { problems: { msg: string }[] };
  expect(parsed.problems).toHaveLength(101);
  expect(parsed.problems.at(-1)).toMatchObject({
    type: "value_error",
    loc: ["body"],
    msg: "Value error, more problems are not shown",
  });
  const fields = z.object(
    Object.fromEntries(Array.from({ length: 130 }, (_, index) => [`f${index}`, z.int()])),
  );
  const others = parsePart(fields, {}, "body") as { problems: { msg: string }[] };
  expect(others.problems).toHaveLength(101);
  expect(others.problems.at(-1)).toMatchObject({ msg: "Value error, 30 more problems are not shown" });
});

test("after the first hundred faults of a list no element is checked", () => {
  let looks = 0;
  const part = z.custom(() => (looks += 1) < 0);
  const schema = z.object({
    messages: z.array(z.object({ content: z.union([z.string(), z.array(part).max(1_000)]) })).max(2_000),
  });
  const messages = Array.from({ length: 2_000 }, () => ({ content: Array.from({ length: 45 }, () => 1) }));
  const parsed = parsePart(schema, { messages }, "body") as { problems: { loc: readonly unknown[] }[] };
  expect(parsed.problems).toHaveLength(101);
  expect(parsed.problems[0]!.loc.slice(0, 3)).toEqual(["body", "messages", 0]);
  expect(looks).toBeLessThan(100 * 45 * 3);
});

test("all faults of a list with few are reported, and a list without any is accepted", () => {
  const schema = z.array(z.string()).max(5_000);
  const list: unknown[] = Array.from({ length: 3_000 }, () => "x");
  expect(parsePart(schema, list, "body")).toEqual({ value: list });
  const faulty = list.with(5, 1).with(2_999, 2);
  expect(
    (parsePart(schema, faulty, "body") as { problems: { loc: readonly unknown[] }[] }).problems.map(
      ({ loc }) => loc,
    ),
  ).toEqual([
    ["body", 5],
    ["body", 2_999],
  ]);
});

test("what an answer quotes of a request is short, however long its keys are", () => {
  const key = "k".repeat(1_000_000);
  const large = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${index}`, "x"]));
  const problems = Array.from({ length: 100 }, () => ({
    type: "value_error",
    loc: ["body", key],
    msg: `Value error, ${key}`,
    input: large,
    ctx: { error: key },
  }));
  expect(JSON.stringify(answerError(new ValidationProblems(problems)).body).length).toBeLessThan(400_000);
});
