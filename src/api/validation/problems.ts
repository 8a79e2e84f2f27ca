/** Translates zod's issues into FastAPI's problems. */
import { z } from "zod";
import {
  literalError,
  missing,
  type Location,
  type Problem,
  uuidParsing,
  valueError,
} from "../../schema/requests/problem.ts";
import { suggestion } from "./suggestion.ts";

export type Part = "path" | "query" | "header" | "body";
/** What begins the message of an issue about unknown keys, before the names that the object has. */
const KNOWN = "known: ";
/** Keys of one object that are reported; one more than problems are shown, so that the rest is not missed. */
const MAX_KEYS = 101;

/** Names what the issue's type does not say: an expected UUID or integer, and the keys of an object. */
export function expectedKind(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === "unrecognized_keys" && issue.inst instanceof z.ZodObject)
    return KNOWN + Object.keys(issue.inst.shape).join(" ");
  if (issue.code !== "invalid_type") return undefined;
  if (issue.inst instanceof z.ZodGUID) return "uuid";
  return issue.inst instanceof z.ZodNumber && issue.inst.format?.includes("int") === true ? "int" : undefined;
}

export interface Place {
  readonly part: Part;
  /** The path to the value in which the issue's own path begins. */
  readonly prefix: readonly PropertyKey[];
  /** The whole part of the request as it was sent. */
  readonly given: unknown;
}

/** An issue may become several problems: one for each unexpected key, or fault of a union's best fit. */
export function translate(issue: z.core.$ZodIssue, place: Place): Problem[] {
  const path = [...place.prefix, ...issue.path];
  const loc = [place.part, ...path.map((step) => (typeof step === "symbol" ? String(step) : step))];
  const input = valueAt(place.given, path);
  switch (issue.code) {
    case "invalid_type":
      return [typeProblem(issue, loc, place)];
    case "invalid_union":
      return unionProblems(issue, loc, place);
    case "invalid_value":
      return [choiceProblem(issue.values, loc, place)];
    case "too_small":
    case "too_big":
      return [sizeProblem(issue, loc, input)];
    case "invalid_format":
      return [formatProblem(issue, loc, input)];
    case "unrecognized_keys":
      return unknownProblems(issue, loc, input);
    case "custom":
      return [customProblem(issue, loc, input)];
    case "invalid_key":
    case "invalid_element":
      return issue.issues.flatMap((inner) => translate(inner, { ...place, prefix: path }));
    case "not_multiple_of":
      return [
        {
          type: "multiple_of",
          loc,
          msg: `Input should be a multiple of ${issue.divisor}`,
          input,
          ctx: { multiple_of: issue.divisor },
        },
      ];
  }
}

const TYPE_PROBLEMS: Record<string, readonly [type: string, msg: string]> = {
  string: ["string_type", "Input should be a valid string"],
  uuid: ["uuid_type", "UUID input should be a string, bytes or UUID object"],
  boolean: ["bool_type", "Input should be a valid boolean"],
  array: ["list_type", "Input should be a valid list"],
  record: ["dict_type", "Input should be a valid dictionary"],
  object: ["model_attributes_type", "Input should be a valid dictionary or object to extract fields from"],
  int: ["int_type", "Input should be a valid integer"],
  number: ["float_type", "Input should be a valid number"],
};

/** Problems of a string that does not spell the expected value: pydantic tries to read it first. */
const PARSING_PROBLEMS: Record<string, readonly [type: string, msg: string]> = {
  boolean: ["bool_parsing", "Input should be a valid boolean, unable to interpret input"],
  int: ["int_parsing", "Input should be a valid integer, unable to parse string as an integer"],
  number: ["float_parsing", "Input should be a valid number, unable to parse string as a number"],
};

function unknownProblems({ keys, message }: z.core.$ZodIssueUnrecognizedKeys, loc: Location, input: unknown) {
  const known = message.startsWith(KNOWN) ? message.slice(KNOWN.length).split(" ") : [];
  return keys.slice(0, MAX_KEYS).map((key) => ({
    type: "extra_forbidden",
    loc: [...loc, key],
    msg: `Extra inputs are not permitted${suggestion(key, known)}`,
    input: valueAt(input, [key]),
  }));
}

/** The value in which a field is missing is shown for JSON bodies, not for the other parts. */
function missingAt(loc: Location, { part, given }: Place): Problem {
  return missing(loc, loc.length === 1 || part !== "body" ? null : valueAt(given, loc.slice(1, -1)));
}

function choiceProblem(options: readonly unknown[], loc: Location, place: Place): Problem {
  const input = valueAt(place.given, loc.slice(1));
  return input === undefined ? missingAt(loc, place) : literalError(loc, options, input);
}

function typeProblem(issue: z.core.$ZodIssueInvalidType, loc: Location, place: Place): Problem {
  const input = valueAt(place.given, loc.slice(1));
  if (input === undefined) return missingAt(loc, place);
  const expected = issue.message in TYPE_PROBLEMS ? issue.message : issue.expected;
  if (expected === "int" && typeof input === "number" && !Number.isInteger(input)) {
    return {
      type: "int_from_float",
      loc,
      msg: "Input should be a valid integer, got a number with a fractional part",
      input,
    };
  }
  const [type, msg] = wordsFor(expected, input);
  return { type, loc, msg, input };
}

function wordsFor(expected: string, input: unknown): readonly [type: string, msg: string] {
  const isUnreadable = typeof input === "string" && spelled(input, expected) === undefined;
  return (
    (isUnreadable ? PARSING_PROBLEMS[expected] : undefined) ??
    TYPE_PROBLEMS[expected] ?? ["value_error", "Value error, the type is wrong"]
  );
}

/** What zod says of a union that has no words of its own. */
const NO_ALTERNATIVE = "Invalid input";

/** Reports the union's own words, or the closest alternative: one of the value's type, else the first. */
function unionProblems(issue: z.core.$ZodIssueInvalidUnion, loc: Location, place: Place): Problem[] {
  const path = loc.slice(1);
  if (issue.errors.length === 0) {
    const options = "options" in issue && Array.isArray(issue.options) ? issue.options : [];
    return [choiceProblem(options, loc, place)];
  }
  if (issue.message !== NO_ALTERNATIVE) return [valueError(loc, issue.message, valueAt(place.given, path))];
  const closest =
    issue.errors.find((issues) =>
      issues.every((inner) => inner.path.length > 0 || inner.code !== "invalid_type"),
    ) ??
    issue.errors[0] ??
    [];
  return closest.flatMap((inner) => translate(inner, { ...place, prefix: path }));
}

type SizeIssue = z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig;

function sizeProblem(issue: SizeIssue, loc: Location, input: unknown): Problem {
  const isSmall = issue.code === "too_small";
  const limit = Number(isSmall ? issue.minimum : issue.maximum);
  if (issue.origin !== "string" && issue.origin !== "array")
    return rangeProblem(issue, { limit, isSmall }, { loc, input });
  const size = isSmall ? "at least" : "at most";
  const length = { [isSmall ? "min_length" : "max_length"]: limit };
  const plural = limit === 1 ? "" : "s";
  if (issue.origin === "string") {
    return {
      type: isSmall ? "string_too_short" : "string_too_long",
      loc,
      msg: `String should have ${size} ${limit} character${plural}`,
      input,
      ctx: length,
    };
  }
  const actual = Array.isArray(input) ? input.length : 0;
  const msg = `List should have ${size} ${limit} item${plural} after validation, not ${actual}`;
  return {
    type: isSmall ? "too_short" : "too_long",
    loc,
    msg,
    input,
    ctx: { field_type: "List", ...length, actual_length: actual },
  };
}

function rangeProblem(
  { inclusive }: SizeIssue,
  { limit, isSmall }: { limit: number; isSmall: boolean },
  { loc, input }: { loc: Location; input: unknown },
): Problem {
  const relation = isSmall ? "greater_than" : "less_than";
  const words = `${relation.replace("_", " ")}${inclusive === true ? " or equal to" : ""}`;
  const key = `${isSmall ? "g" : "l"}${inclusive === true ? "e" : "t"}`;
  return {
    type: `${relation}${inclusive === true ? "_equal" : ""}`,
    loc,
    msg: `Input should be ${words} ${limit}`,
    input,
    ctx: { [key]: limit },
  };
}

function formatProblem(issue: z.core.$ZodIssueInvalidStringFormat, loc: Location, input: unknown): Problem {
  const text = typeof input === "string" ? input : "";
  if (issue.format === "guid" || issue.format === "uuid") return uuidParsing(loc, text);
  if (issue.format === "datetime") {
    const error = text.length < 10 ? "input is too short" : "invalid date or time";
    return {
      type: "datetime_from_date_parsing",
      loc,
      msg: `Input should be a valid datetime or date, ${error}`,
      input,
      ctx: { error },
    };
  }
  if (issue.format === "regex" && issue.pattern !== undefined) {
    const pattern = issue.pattern.replace(/^\/|\/[a-z]*$/g, "");
    return {
      type: "string_pattern_mismatch",
      loc,
      msg: `String should match pattern '${pattern}'`,
      input,
      ctx: { pattern },
    };
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

/** Reads a string as a value of `type`; undefined if it spells none. */
export function spelled(text: string, type: string): number | boolean | undefined {
  if (type === "boolean")
    return TRUE.has(text.toLowerCase()) ? true : FALSE.has(text.toLowerCase()) ? false : undefined;
  const pattern =
    type === "int" ? /^[+-]?\d{1,15}(\.0+)?$/ : type === "number" ? /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i : null;
  return pattern?.test(text.trim()) === true ? Number(text) : undefined;
}
