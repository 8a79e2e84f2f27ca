/** Objects with any keys in requests: the number of members is checked before the members are. */
import { z } from "zod";
import { type Problem, valueError } from "./problem.ts";

const NO_KEY = valueError([], "the key __proto__ is not allowed");

type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * An object of at most `maxKeys` members, which `schema` then checks.
 * @param json its description in the OpenAPI document, apart from its type and its bound.
 */
export function withFewKeys<S extends z.ZodType>(
  schema: S,
  maxKeys: number,
  json: JsonSchema = { additionalProperties: {} },
) {
  return z
    .unknown()
    .superRefine((given, context) => {
      if (typeof given !== "object" || given === null || Array.isArray(given)) {
        context.addIssue({
          code: "invalid_type",
          expected: "record",
          input: given,
          message: "not an object",
        });
        return;
      }
      const keys = Object.keys(given).length;
      if (keys > maxKeys)
        context.addIssue({
          code: "custom",
          input: given,
          message: "too many members",
          params: { problem: tooLong(keys, maxKeys) },
        });
      // Zod's record would drop this key in silence, and code that copies members would set a prototype.
      if (Object.hasOwn(given, "__proto__"))
        context.addIssue({
          code: "custom",
          path: ["__proto__"],
          input: given,
          message: "not a key",
          params: { problem: NO_KEY },
        });
    })
    .meta({ override: { type: "object", maxProperties: maxKeys, ...json } })
    .pipe(schema as z.ZodType<z.output<S>, unknown>);
}

/** An object of at most `maxKeys` members with any keys, each value of which `value` checks. */
export function record<V extends z.ZodType>(value: V, maxKeys: number, json?: JsonSchema) {
  return withFewKeys(z.record(z.string(), value), maxKeys, json);
}

function tooLong(actual: number, limit: number): Problem {
  const msg = `Dictionary should have at most ${limit} items after validation, not ${actual}`;
  return {
    type: "too_long",
    loc: [],
    msg,
    ctx: { field_type: "Dictionary", max_length: limit, actual_length: actual },
  };
}
