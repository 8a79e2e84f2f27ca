/**
 * Walks through request schemas for the cost test, and finds every place in a body where a sender may put a
 * value.
 */
import type { z } from "zod";
import { toJSONSchema } from "zod";

export interface Place {
  /** The path, e.g. `messages[].content`; empty for the body itself. */
  readonly name: string;
  /** Returns the JSON of a body that has `inner` at this place. */
  around(inner: string): string;
  /** A value that the schema accepts here, as JSON; for an array, one of its elements. */
  readonly sample: string;
}

type Schema = Readonly<Record<string, any>>;

/** Deeper places contain what was already measured with their parents. */
const MOST_DEPTH = 4;

/** Lists the schema itself, its properties, the elements of its arrays, and their properties. */
export function placesOf(schema: z.ZodType): Place[] {
  const root = toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Schema;
  const places: Place[] = [];
  const visit = (given: Schema, place: Omit<Place, "sample">, depth: number): void => {
    const found = resolved(root, given);
    places.push({ ...place, sample: JSON.stringify(sampleOf(root, found["items"] ?? found)) });
    if (depth >= MOST_DEPTH) return;
    for (const option of found["anyOf"] ?? found["oneOf"] ?? [])
      if (isNested(resolved(root, option))) visit(option, { ...place, name: `${place.name}?` }, depth + 1);
    for (const [key, inner] of Object.entries<Schema>(found["properties"] ?? {})) {
      visit(
        inner,
        {
          name: place.name === "" ? key : `${place.name}.${key}`,
          around: (json) => place.around(`{${JSON.stringify(key)}:${json}}`),
        },
        depth + 1,
      );
    }
    if (found["items"] !== undefined)
      visit(
        found["items"],
        { name: `${place.name}[]`, around: (json) => place.around(`[${json}]`) },
        depth + 1,
      );
    if (typeof found["additionalProperties"] === "object")
      visit(
        found["additionalProperties"],
        { name: `${place.name}{}`, around: (json) => place.around(`{"k":${json}}`) },
        depth + 1,
      );
  };
  visit(root, { name: "", around: (json) => json }, 0);
  return places;
}

const isNested = (schema: Schema): boolean =>
  ["properties", "items", "additionalProperties", "anyOf", "oneOf"].some((key) => key in schema);

function resolved(root: Schema, schema: Schema): Schema {
  const name = /^#\/\$defs\/(.+)$/.exec(String(schema["$ref"] ?? ""))?.[1];
  return name === undefined ? schema : (root["$defs"]?.[name] ?? {});
}

function sampleOf(root: Schema, given: Schema, depth = 0): unknown {
  const schema = resolved(root, given);
  if ("const" in schema) return schema["const"];
  if (schema["enum"] !== undefined) return schema["enum"][0];
  const option = (schema["anyOf"] ?? schema["oneOf"])?.[0];
  if (option !== undefined) return depth > MOST_DEPTH ? null : sampleOf(root, option, depth + 1);
  if (schema["properties"] !== undefined) return sampleObject(root, schema, depth);
  if (schema["format"] === "guid" || schema["format"] === "uuid")
    return "01900000-0000-7000-8000-000000000010";
  return (
    (
      { string: "x", integer: 1, number: 1, boolean: false, array: [], object: {} } as Record<string, unknown>
    )[schema["type"]] ?? null
  );
}

function sampleObject(root: Schema, schema: Schema, depth: number): unknown {
  const required: readonly string[] = schema["required"] ?? [];
  return Object.fromEntries(
    required.map((key) => [
      key,
      depth > MOST_DEPTH ? null : sampleOf(root, schema["properties"][key] ?? {}, depth + 1),
    ]),
  );
}
