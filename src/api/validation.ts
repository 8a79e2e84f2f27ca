/** The one check that each part of a request passes before its handler. */
import { z } from "zod";
import { type Location, type Problem, ValidationProblems, valueError } from "../schema/problem.ts";
import { expectedKind, type Part, spelled, translate } from "./validation-problems.ts";

/** The value, or every problem of it, with `part` first in each location. */
export type Parsed = { readonly value: unknown } | { readonly problems: Problem[] };

/** Checks `input` against `schema`; strings of a path or query count as the numbers and booleans that they spell. */
export function parsePart(schema: z.ZodType, input: unknown, part: Part): Parsed {
  const given = part === "body" ? input : readStrings(schema, input);
  const parsed = schema.safeParse(given, { reportInput: true, error: expectedKind });
  if (parsed.success) return { value: parsed.data };
  return { problems: parsed.error.issues.flatMap((issue) => translate(issue, { part, prefix: [], given: input })) };
}

/** Strings as their schema's types; of a repeated parameter the last counts, unless it is a list. */
function readStrings(schema: z.ZodType, strings: unknown): unknown {
  if (!(schema instanceof z.ZodObject) || typeof strings !== "object" || strings === null) return strings;
  return Object.fromEntries(
    Object.entries(strings).map(([name, value]: [string, unknown]) => {
      const type = name in schema.shape ? kindOf(schema.shape[name] as z.ZodType) : "string";
      if (type === "array") return [name, Array.isArray(value) ? value : [value]];
      const last: unknown = Array.isArray(value) ? value.at(-1) : value;
      return [name, typeof last === "string" ? (spelled(last, type) ?? last) : last];
    }),
  );
}

function kindOf(schema: z.ZodType): string {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable) return kindOf(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodPipe) return kindOf(schema.in as z.ZodType);
  if (schema instanceof z.ZodNumber) return schema.format?.includes("int") === true ? "int" : "number";
  return schema.def.type;
}

const MAX_DEPTH = 100;
const MAX_UNUSABLE_REPORTED = 10;

interface Found {
  readonly value: unknown;
  readonly loc: Location;
}

/** Text that Postgres refuses, or nesting that would exhaust a stack, anywhere in a value that came from JSON or a URL. */
export function findUnusable(value: unknown, part: Part): Problem[] {
  const open: Found[] = [{ value, loc: [part] }];
  const problems: Problem[] = [];
  for (let found = open.pop(); found !== undefined && problems.length < MAX_UNUSABLE_REPORTED; found = open.pop()) {
    const reason = typeof found.value === "string" ? textFault(found.value) : null;
    if (reason !== null) problems.push(valueError(found.loc, reason));
    if (typeof found.value !== "object" || found.value === null) continue;
    if (found.loc.length > MAX_DEPTH) return [valueError([part], `nested deeper than ${MAX_DEPTH} levels`)];
    if (Object.keys(found.value).some((key) => textFault(key) !== null)) problems.push(valueError(found.loc, "a key holds a character that is not allowed"));
    else for (const child of childrenOf(found.value, found.loc)) open.push(child);
  }
  return problems;
}

function childrenOf(value: object, loc: Location): Found[] {
  return Object.entries(value).map(([key, inner]: [string, unknown]) => ({ value: inner, loc: [...loc, Array.isArray(value) ? Number(key) : key] }));
}

function textFault(text: string): string | null {
  if (text.includes("\0")) return "the NUL character is not allowed";
  return text.isWellFormed() ? null : "half of a surrogate pair is not allowed";
}

/** All parts of a request that were checked, or one 422 for everything that is wrong in them. @throws ValidationProblems */
export function allValues<Name extends string>(parts: Record<Name, Parsed>): Record<Name, unknown> {
  const found: Parsed[] = Object.values(parts);
  const problems = found.flatMap((part) => ("problems" in part ? part.problems : []));
  if (problems.length > 0) throw new ValidationProblems(problems);
  return Object.fromEntries(Object.entries<Parsed>(parts).map(([name, part]) => [name, "value" in part ? part.value : undefined])) as Record<Name, unknown>;
}
