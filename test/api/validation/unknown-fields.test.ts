import { expect, test } from "vitest";
import { z } from "zod";
import { unknownFieldWarnings } from "../../../src/api/validation/unknown-fields.ts";
import { record } from "../../../src/schema/requests/record.ts";

const schema = z
  .object({
    document_id: z.string().nullish(),
    limit: z.int().default(10),
    filters: record(z.unknown(), 10).optional(),
    config: z.object({ max_tokens: z.int() }).optional(),
    items: z.array(z.object({ name: z.string() })).optional(),
  })
  .nullish()
  .transform((body) => body);

const warnings = (given: unknown): string[] => unknownFieldWarnings(schema, given);

test("a field that is nearly known is named with the one that is meant", () => {
  expect(warnings({ document_idd: "x" })).toEqual([
    '199 holdfast "unknown field document_idd; did you mean document_id?"',
  ]);
  expect(warnings({ limmit: 1, config: { max_token: 3 } })).toEqual([
    '199 holdfast "unknown field limmit; did you mean limit?"',
    '199 holdfast "unknown field max_token; did you mean max_tokens?"',
  ]);
  expect(warnings({ items: [{ name: "a" }, { nam: "b" }] })).toEqual([
    '199 holdfast "unknown field nam; did you mean name?"',
  ]);
});

test("one that begins a part of only one known name is named with that", () => {
  expect(warnings({ docs: [], config: { max: 3 } })).toEqual([
    '199 holdfast "unknown field docs; did you mean document_id?"',
    '199 holdfast "unknown field max; did you mean max_tokens?"',
  ]);
  expect(warnings({ li: 1, cs: 1 })).toEqual([
    '199 holdfast "unknown field li"',
    '199 holdfast "unknown field cs"',
  ]);
  const either = z.object({ space_id: z.string(), space_name: z.string() });
  expect(unknownFieldWarnings(either, { spac: 1 })).toEqual(['199 holdfast "unknown field spac"']);
});

test("one that is like none is named alone", () => {
  expect(warnings({ colour: "red" })).toEqual(['199 holdfast "unknown field colour"']);
});

test("nothing is said of known fields, of objects with any keys, and of what is no object", () => {
  for (const given of [{ limit: 3 }, { filters: { anything: 1 } }, null, undefined, [], "text", 7])
    expect(warnings(given)).toEqual([]);
});

test("at most five are named, and none that could not stand in a header", () => {
  const many = Object.fromEntries(Array.from({ length: 90_000 }, (_, at) => [`field${at}`, at]));
  const named = warnings(many);
  expect(named).toHaveLength(6);
  expect(named.at(-1)).toBe('199 holdfast "89995 more unknown fields"');
  expect(warnings({ 'a"\r\nSet-Cookie: b': 1, [`x`.repeat(65)]: 1, ü: 1, "": 1 })).toEqual([
    '199 holdfast "4 unknown fields"',
  ]);
});
