/**
 * Finds fields of a request that its contract does not know. They are no error where nothing is narrowed or
 * limited, but the answer names them, so that a misspelled one is not passed over in silence.
 */
import { z } from "zod";
import { NAMEABLE, suggestion } from "./suggestion.ts";

/** Unknown fields that are named; the others are counted. */
const MAX_NAMED = 5;
/** Elements of a list of objects that are looked at. */
const MAX_ELEMENTS = 20;

interface Unknown {
  readonly name: string;
  /** The names that the contract has at its place. */
  readonly known: readonly string[];
}

interface Found {
  /** The first of them that can be named. */
  readonly named: Unknown[];
  /** Of all. */
  count: number;
}

/**
 * The values of a `Warning` header for what `schema` does not know in `given`; empty if it knows everything.
 * Objects with any keys, such as filters and metadata, are not looked into.
 * @see https://www.rfc-editor.org/rfc/rfc7234#section-5.5
 */
export function unknownFieldWarnings(schema: z.ZodType, given: unknown): string[] {
  const found: Found = { named: [], count: 0 };
  collect(schema, given, found);
  const { named, count } = found;
  const left = count - named.length;
  return [
    ...named.map(({ name, known }) => warning(`unknown field ${name}${suggestion(name, known)}`)),
    ...(left === 0 ? [] : [warning(`${left} ${named.length > 0 ? "more " : ""}unknown fields`)]),
  ];
}

/** A value of the header `Warning`; the text has nothing that a client chose freely. */
export const warning = (text: string): string => `199 holdfast "${text}"`;

function collect(schema: z.ZodType, given: unknown, found: Found): void {
  if (typeof given !== "object" || given === null) return;
  if (schema instanceof z.ZodObject) {
    const shape = schema.shape as Readonly<Record<string, z.ZodType>>;
    const known = Object.keys(shape);
    for (const name of Object.keys(given)) {
      if (Object.hasOwn(shape, name)) {
        collect(shape[name]!, (given as Readonly<Record<string, unknown>>)[name], found);
        continue;
      }
      found.count += 1;
      if (found.named.length < MAX_NAMED && NAMEABLE.test(name)) found.named.push({ name, known });
    }
  } else if (schema instanceof z.ZodArray && Array.isArray(given)) {
    for (const element of given.slice(0, MAX_ELEMENTS)) collect(schema.element as z.ZodType, element, found);
  } else {
    const inner = innerOf(schema);
    if (inner !== undefined) collect(inner, given, found);
  }
}

/** The schema that the same value is passed on to; none for unions, whose alternatives know other fields. */
function innerOf(schema: z.ZodType): z.ZodType | undefined {
  if (schema instanceof z.ZodPipe)
    return (schema.in instanceof z.ZodTransform ? schema.out : schema.in) as z.ZodType;
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodReadonly
  )
    return schema.unwrap() as z.ZodType;
  return undefined;
}
