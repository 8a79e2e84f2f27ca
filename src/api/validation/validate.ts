/** Checks the parts of a request before its handler runs. */
import { z } from "zod";
import {
  type Location,
  type Problem,
  ValidationProblems,
  valueError,
} from "../../schema/requests/problem.ts";
import { cutFaults, MAX_FAULTS } from "./few-faults.ts";
import { expectedKind, type Part, spelled, translate } from "./problems.ts";

/** The checked value, or all its problems; each location begins with the part of the request. */
export type Parsed = { readonly value: unknown } | { readonly problems: Problem[] };

/** Checks `input` against `schema`. Strings of a path or query are read as numbers and booleans first. */
export function parsePart(schema: z.ZodType, input: unknown, part: Part): Parsed {
  const { value: given, isCut } =
    part === "body" ? cutFaults(schema, input) : { value: readStrings(schema, input), isCut: false };
  const parsed = schema.safeParse(given, { reportInput: true, error: expectedKind });
  // A list that was cut still has a hundred faults: if the check finds none, that is a defect here.
  if (parsed.success && !isCut) return { value: parsed.data };
  const issues = parsed.error?.issues ?? [];
  const shown = part === "body" ? input : withLists(input, given);
  const problems = issues
    .slice(0, MAX_FAULTS)
    .flatMap((issue) => translate(issue, { part, prefix: [], given: shown }));
  const left = issues.length - MAX_FAULTS;
  if (!isCut && left <= 0 && problems.length <= MAX_FAULTS) return { problems };
  const more = isCut || left <= 0 ? "more problems" : `${left} more problems`;
  return { problems: [...problems.slice(0, MAX_FAULTS), valueError([part], `${more} are not shown`)] };
}

/** Reads strings as their schema's types. The last of a repeated parameter counts, except in a list. */
export function readStrings(schema: z.ZodType, strings: unknown): unknown {
  if (!(schema instanceof z.ZodObject) || typeof strings !== "object" || strings === null) return strings;
  return Object.fromEntries(
    Object.entries(strings).map(([name, value]: [string, unknown]) => {
      const type = Object.hasOwn(schema.shape, name) ? kindOf(schema.shape[name] as z.ZodType) : "string";
      if (type === "array") return [name, Array.isArray(value) ? value : [value]];
      const last: unknown = Array.isArray(value) ? value.at(-1) : value;
      return [name, typeof last === "string" ? (spelled(last, type) ?? last) : last];
    }),
  );
}

/** What was sent, with the lists that were read: a single value of one has no elements to be named. */
function withLists(strings: unknown, read: unknown): unknown {
  if (typeof strings !== "object" || strings === null) return strings;
  const lists = Object.entries(read as object).filter(([, value]) => Array.isArray(value));
  return Object.fromEntries([...Object.entries(strings), ...lists]);
}

function kindOf(schema: z.ZodType): string {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable)
    return kindOf(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodPipe) return kindOf(schema.in as z.ZodType);
  if (schema instanceof z.ZodNumber) return schema.format?.includes("int") === true ? "int" : "number";
  return schema.def.type;
}

const MAX_UNUSABLE_REPORTED = 10;

/** A list or object on the way to the value that is visited. */
interface Frame {
  readonly value: object;
  /** Null for a list. */
  readonly keys: readonly string[] | null;
  /** The index of the next child. */
  next: number;
}

/**
 * Finds text that Postgres refuses, anywhere in a value that came from JSON or a URL, in its order; at most
 * ten. Takes linear time and does not recurse; locations are put together only for what is found.
 */
export function findUnusable(value: unknown, part: Part): Problem[] {
  const open: Frame[] = [];
  const problems: Problem[] = [];
  const visit = (found: unknown): void => {
    const reason = typeof found === "string" ? textFault(found) : null;
    if (reason !== null) problems.push(valueError(locationOf(open, part), reason));
    if (typeof found === "object" && found !== null)
      open.push({ value: found, keys: Array.isArray(found) ? null : Object.keys(found), next: 0 });
  };
  visit(value);
  for (
    let frame = open.at(-1);
    frame !== undefined && problems.length < MAX_UNUSABLE_REPORTED;
    frame = open.at(-1)
  ) {
    const { value: holder, keys, next } = frame;
    if (next >= (keys ?? (holder as unknown[])).length) {
      open.pop();
      continue;
    }
    frame.next += 1;
    const key = keys?.[next] ?? next;
    if (typeof key === "string" && textFault(key) !== null)
      problems.push(
        valueError(locationOf(open.slice(0, -1), part), "a key contains a character that is not allowed"),
      );
    else visit((holder as Record<string | number, unknown>)[key]);
  }
  return problems;
}

/** The child that was visited last is the one before `next` of each frame. */
function locationOf(open: readonly Frame[], part: Part): Location {
  return [part, ...open.map(({ keys, next }) => keys?.[next - 1] ?? next - 1)];
}

function textFault(text: string): string | null {
  if (text.includes("\0")) return "the NUL character is not allowed";
  return text.isWellFormed() ? null : "half of a surrogate pair is not allowed";
}

/** Returns the values of all parts. @throws ValidationProblems with the problems of all parts */
export function allValues<Name extends string>(parts: Record<Name, Parsed>): Record<Name, unknown> {
  const found: Parsed[] = Object.values(parts);
  const problems = found.flatMap((part) => ("problems" in part ? part.problems : []));
  if (problems.length > 0) throw new ValidationProblems(problems);
  return Object.fromEntries(
    Object.entries<Parsed>(parts).map(([name, part]) => [name, "value" in part ? part.value : undefined]),
  ) as Record<Name, unknown>;
}
