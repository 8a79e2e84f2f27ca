/** The only translation of zod's issues into FastAPI's vocabulary, and the one check that a request passes before its handler. */
import { z } from "zod";
import { UUID_TYPE } from "../schema/common.ts";
import { literalError, missing, type Location, type Problem, uuidParsing, ValidationProblems, valueError } from "../schema/problem.ts";

type Part = "path" | "query" | "header" | "body";
type Issue = z.core.$ZodIssue;

/** The value, or every problem of it, with `part` first in each location. */
export type Parsed = { readonly value: unknown } | { readonly problems: Problem[] };

/** Checks `input` against `schema`; strings of a path or query count as the numbers and booleans that they spell. */
export function parsePart(schema: z.ZodType, input: unknown, part: Part): Parsed {
  const given = part === "body" ? input : readStrings(schema, input);
  const parsed = schema.safeParse(given, { reportInput: true });
  if (parsed.success) return { value: parsed.data };
  return { problems: parsed.error.issues.flatMap((issue) => translate(issue, { part, prefix: [], given: input })) };
}

interface Place {
  readonly part: Part;
  /** Where the issue's own path begins. */
  readonly prefix: readonly PropertyKey[];
  /** The whole part as it came. */
  readonly given: unknown;
}

function translate(issue: Issue, place: Place): Problem[] {
  const path = [...place.prefix, ...issue.path];
  const loc = [place.part, ...path.map((step) => (typeof step === "symbol" ? String(step) : step))];
  const input = valueAt(place.given, path);
  switch (issue.code) {
    case "invalid_type":
      return [typeProblem(issue, loc, place)];
    case "invalid_union":
      return unionProblems(issue, loc, place);
    case "invalid_value":
      return [literalError(loc, issue.values, input)];
    case "too_small":
    case "too_big":
      return [sizeProblem(issue, loc, input)];
    case "invalid_format":
      return [formatProblem(issue, loc, input)];
    case "unrecognized_keys":
      return issue.keys.map((key) => ({ type: "extra_forbidden", loc: [...loc, key], msg: "Extra inputs are not permitted", input: valueAt(input, [key]) }));
    case "custom":
      return [customProblem(issue, loc, input)];
    case "invalid_key":
    case "invalid_element":
      return issue.issues.flatMap((inner) => translate(inner, { ...place, prefix: path }));
    case "not_multiple_of":
      return [{ type: "multiple_of", loc, msg: `Input should be a multiple of ${issue.divisor}`, input, ctx: { multiple_of: issue.divisor } }];
  }
}

const TYPE_PROBLEMS: Record<string, readonly [type: string, msg: string]> = {
  string: ["string_type", "Input should be a valid string"],
  [UUID_TYPE]: ["uuid_type", "UUID input should be a string, bytes or UUID object"],
  boolean: ["bool_type", "Input should be a valid boolean"],
  array: ["list_type", "Input should be a valid list"],
  record: ["dict_type", "Input should be a valid dictionary"],
  object: ["model_attributes_type", "Input should be a valid dictionary or object to extract fields from"],
  int: ["int_type", "Input should be a valid integer"],
  number: ["float_type", "Input should be a valid number"],
};

/** A string where something else was expected: tried, as pydantic does, and found not to spell it. */
const PARSING_PROBLEMS: Record<string, readonly [type: string, msg: string]> = {
  boolean: ["bool_parsing", "Input should be a valid boolean, unable to interpret input"],
  int: ["int_parsing", "Input should be a valid integer, unable to parse string as an integer"],
  number: ["float_parsing", "Input should be a valid number, unable to parse string as a number"],
};

function typeProblem(issue: z.core.$ZodIssueInvalidType, loc: Location, { part, given }: Place): Problem {
  const input = valueAt(given, loc.slice(1));
  const isForm = part === "query" || given === null;
  if (input === undefined) return missing(loc, loc.length === 1 || isForm ? null : valueAt(given, loc.slice(1, -1)));
  const expected = issue.message === UUID_TYPE ? UUID_TYPE : issue.expected;
  if (expected === "int" && typeof input === "number" && !Number.isInteger(input)) {
    return { type: "int_from_float", loc, msg: "Input should be a valid integer, got a number with a fractional part", input };
  }
  const isUnreadable = typeof input === "string" && spelled(input, expected) === undefined;
  const [type, msg] = (isUnreadable ? PARSING_PROBLEMS[expected] : undefined) ?? TYPE_PROBLEMS[expected] ?? ["value_error", "Value error, the type is wrong"];
  return { type, loc, msg, input };
}

/** The alternative that the value came closest to: one whose own type it has, else the first. */
function unionProblems(issue: z.core.$ZodIssueInvalidUnion, loc: Location, place: Place): Problem[] {
  const path = loc.slice(1);
  const input = valueAt(place.given, path);
  if (issue.errors.length === 0) {
    const options = "options" in issue && Array.isArray(issue.options) ? issue.options : [];
    return input === undefined ? [missing(loc, valueAt(place.given, path.slice(0, -1)))] : [literalError(loc, options, input)];
  }
  const closest = issue.errors.find((issues) => issues.every((inner) => inner.path.length > 0 || inner.code !== "invalid_type")) ?? issue.errors[0] ?? [];
  return closest.flatMap((inner) => translate(inner, { ...place, prefix: path }));
}

function sizeProblem(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig, loc: Location, input: unknown): Problem {
  const isSmall = issue.code === "too_small";
  const limit = Number(isSmall ? issue.minimum : issue.maximum);
  const size = isSmall ? "at least" : "at most";
  const key = isSmall ? "min_length" : "max_length";
  if (issue.origin === "string") {
    const msg = `String should have ${size} ${limit} character${limit === 1 ? "" : "s"}`;
    return { type: isSmall ? "string_too_short" : "string_too_long", loc, msg, input, ctx: { [key]: limit } };
  }
  if (issue.origin === "array") {
    const actual = Array.isArray(input) ? input.length : 0;
    const msg = `List should have ${size} ${limit} item${limit === 1 ? "" : "s"} after validation, not ${actual}`;
    return { type: isSmall ? "too_short" : "too_long", loc, msg, input, ctx: { field_type: "List", [key]: limit, actual_length: actual } };
  }
  const relation = isSmall ? "greater than" : "less than";
  const type = `${relation.replace(" ", "_")}${issue.inclusive === true ? "_equal" : ""}`;
  const msg = `Input should be ${relation}${issue.inclusive === true ? " or equal to" : ""} ${limit}`;
  return { type, loc, msg, input, ctx: { [`${isSmall ? "g" : "l"}${issue.inclusive === true ? "e" : "t"}`]: limit } };
}

function formatProblem(issue: z.core.$ZodIssueInvalidStringFormat, loc: Location, input: unknown): Problem {
  const text = typeof input === "string" ? input : "";
  if (issue.format === "guid" || issue.format === "uuid") return uuidParsing(loc, text);
  if (issue.format === "datetime") {
    const error = text.length < 10 ? "input is too short" : "invalid date or time";
    return { type: "datetime_from_date_parsing", loc, msg: `Input should be a valid datetime or date, ${error}`, input, ctx: { error } };
  }
  if (issue.format === "regex" && issue.pattern !== undefined) {
    const pattern = issue.pattern.replace(/^\/|\/[a-z]*$/g, "");
    return { type: "string_pattern_mismatch", loc, msg: `String should match pattern '${pattern}'`, input, ctx: { pattern } };
  }
  return valueError(loc, issue.message, input);
}

function customProblem(issue: z.core.$ZodIssueCustom, loc: Location, input: unknown): Problem {
  const problem: unknown = issue.params?.["problem"];
  if (typeof problem === "object" && problem !== null) return { ...(problem as Problem), loc, input };
  return valueError(loc, issue.message, input);
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Record<PropertyKey, unknown>)[step];
  }
  return found;
}

const TRUE = new Set(["1", "true", "t", "yes", "y", "on"]);
const FALSE = new Set(["0", "false", "f", "no", "n", "off"]);

/** What a string spells as a type; undefined where it spells nothing of it. */
function spelled(text: string, type: string): number | boolean | undefined {
  if (type === "boolean") return TRUE.has(text.toLowerCase()) ? true : FALSE.has(text.toLowerCase()) ? false : undefined;
  const pattern = type === "int" ? /^[+-]?\d{1,15}(\.0+)?$/ : type === "number" ? /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i : null;
  return pattern?.test(text.trim()) === true ? Number(text) : undefined;
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
  if (schema instanceof z.ZodNumber) return schema.format?.includes("int") === true ? "int" : "number";
  return schema.def.type;
}

const MAX_DEPTH = 100;

/** Text that Postgres refuses, or nesting that would exhaust a stack, anywhere in a value that came from JSON or a URL. */
export function findUnusable(value: unknown, part: Part): Problem[] {
  const open: { value: unknown; loc: (string | number)[] }[] = [{ value, loc: [part] }];
  const problems: Problem[] = [];
  for (let next = open.pop(); next !== undefined && problems.length < 10; next = open.pop()) {
    const { value: found, loc } = next;
    if (typeof found === "string") {
      const reason = textFault(found);
      if (reason !== null) problems.push(valueError(loc, reason));
    } else if (typeof found === "object" && found !== null) {
      if (loc.length > MAX_DEPTH) return [valueError([part], `nested deeper than ${MAX_DEPTH} levels`)];
      for (const [key, inner] of Object.entries(found)) {
        if (textFault(key) === null) open.push({ value: inner, loc: [...loc, Array.isArray(found) ? Number(key) : key] });
        else problems.push(valueError(loc, "a key holds a character that is not allowed"));
      }
    }
  }
  return problems;
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
