/** Reads `filters` and `order_by` of a request: known fields, operators by type, a problem for all else. */
import { z } from "zod";
import { isUuid } from "../../domain/ids.ts";
import {
  type Condition,
  type FieldType,
  type Operator,
  OPERATORS,
  type OrderTerm,
  type Scalar,
} from "../../domain/requests/conditions.ts";
import { parseTimestamp } from "../fields.ts";
import type { Problem } from "./problem.ts";
import { filterPattern, orderPattern } from "./patterns.ts";
import { withFewKeys } from "./record.ts";

/** The allowed fields by name; `doc_metadata.*` means every key of the object `doc_metadata`. */
export type FilterFields = Readonly<Record<string, FieldType>>;

const MAX_CONDITIONS = 50;
const MAX_ORDER_TERMS = 10;
const MAX_LIST = 1_000;
const MAX_TEXT = 8_192;

const EQUALITY: readonly Operator[] = ["exact", "ne", "in", "isnull"];
const RANGE: readonly Operator[] = ["gt", "gte", "lt", "lte"];
const OPERATORS_OF: Record<FieldType, readonly Operator[]> = {
  text: OPERATORS,
  uuid: EQUALITY,
  number: [...EQUALITY, ...RANGE],
  boolean: EQUALITY,
  timestamp: [...EQUALITY, ...RANGE],
  json: OPERATORS,
};
const TEXT_OPERATORS: ReadonlySet<Operator> = new Set([
  "iexact",
  "contains",
  "icontains",
  "startswith",
  "istartswith",
  "endswith",
]);

/** Its message says why a key or value was refused. */
class Refusal extends Error {}

/**
 * Reads the conditions of a `filters` object. A bare field means `exact`; null with `exact` or `ne` asks for
 * absence or presence. No key is ever ignored, because that would widen the result.
 * @param refuse called for each fault, with the key that has it.
 * @example parseFilters({ name__icontains: "report" }, { name: "text" }, refuse)
 */
export function parseFilters(
  filters: Readonly<Record<string, unknown>>,
  fields: FilterFields,
  refuse: (key: string, reason: string) => void,
): Condition[] {
  const keys = Object.keys(filters);
  if (keys.length > MAX_CONDITIONS) {
    refuse(keys[MAX_CONDITIONS] ?? "", `at most ${MAX_CONDITIONS} filters are allowed`);
    return [];
  }
  return keys.flatMap((key) => {
    try {
      return [parseCondition(key, filters[key], fields)];
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refuse(key, error.message);
      return [];
    }
  });
}

function parseCondition(key: string, value: unknown, fields: FilterFields): Condition {
  const { field, jsonKey, operator } = parseKey(key, fields);
  const type = fields[field] ?? "text";
  if (!OPERATORS_OF[type].includes(operator))
    throw new Refusal(`operator '${operator}' does not apply here, known: ${OPERATORS_OF[type].join(", ")}`);
  const base = { field, jsonKey, type };
  if (value === null && (operator === "exact" || operator === "ne"))
    return { ...base, operator: "isnull", value: operator === "exact" };
  return { ...base, operator, value: parseOperand(operator, type, value) };
}

function parseKey(
  key: string,
  fields: FilterFields,
): { field: string; jsonKey: string | null; operator: Operator } {
  assertText(key);
  const split = key.lastIndexOf("__");
  const name = split < 0 ? key : key.slice(0, split);
  const operator = split < 0 ? "exact" : OPERATORS.find((known) => known === key.slice(split + 2));
  if (operator === undefined)
    throw new Refusal(`unknown operator '${key.slice(split + 2)}', known: ${OPERATORS.join(", ")}`);
  return { ...findField(name, fields), operator };
}

function findField(name: string, fields: FilterFields): { field: string; jsonKey: string | null } {
  if (Object.hasOwn(fields, name) && !name.endsWith(".*")) return { field: name, jsonKey: null };
  const dot = name.indexOf(".");
  const open = `${name.slice(0, dot)}.*`;
  if (dot > 0 && dot < name.length - 1 && Object.hasOwn(fields, open))
    return { field: open, jsonKey: name.slice(dot + 1) };
  throw new Refusal(
    `unknown field '${name}', known: ${Object.keys(fields).join(", ").replaceAll(".*", ".<key>")}`,
  );
}

function parseOperand(operator: Operator, type: FieldType, value: unknown): Scalar | Scalar[] {
  if (operator === "isnull") {
    if (typeof value !== "boolean") throw new Refusal("isnull takes true or false");
    return value;
  }
  if (operator !== "in") return parseScalar(TEXT_OPERATORS.has(operator) ? "text" : type, value);
  if (!Array.isArray(value)) throw new Refusal("in takes a list");
  if (value.length > MAX_LIST) throw new Refusal(`in takes at most ${MAX_LIST} values`);
  return value.map((element) => parseScalar(type, element));
}

function parseScalar(type: FieldType, value: unknown): Scalar {
  if (typeof value === "string") assertText(value);
  const parsed = READERS[type](value);
  if (parsed === null) throw new Refusal(`expected ${EXPECTED[type]}`);
  return parsed;
}

/** The JSON in a query string has not passed the checks that a body does, so its texts are checked here. */
function assertText(text: string): void {
  if (text.length > MAX_TEXT) throw new Refusal(`at most ${MAX_TEXT} characters are allowed`);
  if (text.includes("\0") || !text.isWellFormed())
    throw new Refusal("NUL and halves of surrogate pairs are not allowed");
}

const EXPECTED: Record<FieldType, string> = {
  text: "a string",
  uuid: "a UUID string",
  number: "a number",
  boolean: "true or false",
  timestamp: "an ISO 8601 timestamp or date",
  json: "a string, a number, true or false",
};

const READERS: Record<FieldType, (value: unknown) => Scalar | null> = {
  text: (value) => (typeof value === "string" ? value : null),
  uuid: (value) => (typeof value === "string" && isUuid(value) ? value.toLowerCase() : null),
  number: (value) => (typeof value === "number" && Number.isFinite(value) ? value : null),
  boolean: (value) => (typeof value === "boolean" ? value : null),
  timestamp: (value) => (typeof value === "string" ? parseTimestamp(value) : null),
  json: (value) =>
    typeof value === "string" ||
    typeof value === "boolean" ||
    (typeof value === "number" && Number.isFinite(value))
      ? value
      : null,
};

/** Reads an `order_by` list; `-` means descending. @param refuse called per fault with its term's index. */
export function parseOrderBy(
  orderBy: readonly string[],
  fields: FilterFields,
  refuse: (index: number, reason: string) => void,
): OrderTerm[] {
  return orderBy.flatMap((text, index) => {
    const descending = text.startsWith("-");
    try {
      return [{ ...findField(descending ? text.slice(1) : text, fields), descending }];
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refuse(index, error.message);
      return [];
    }
  });
}

const problem = (reason: string): { problem: Problem } => ({
  problem: { type: "value_error", loc: [], msg: `Value error, ${reason}`, ctx: { error: reason } },
});

/** The `filters` of a request body, parsed to conditions. Absent or null means none. */
export function filtersOf(fields: FilterFields, example: Readonly<Record<string, unknown>>) {
  // A record of zod would drop the key `__proto__`, and so widen the result.
  return withFewKeys(z.custom<Readonly<Record<string, unknown>>>(), MAX_CONDITIONS, {
    propertyNames: { pattern: filterPattern(fields, OPERATORS_OF) },
    additionalProperties: {},
  })
    .nullish()
    .transform((filters, context) =>
      parseFilters(filters ?? {}, fields, (key, reason) => {
        context.issues.push({
          code: "custom",
          path: [key],
          input: filters?.[key],
          message: reason,
          params: problem(reason),
        });
      }),
    )
    .meta({ description: describe(fields), example });
}

function describe(fields: FilterFields): string {
  const types = [...new Set(Object.values(fields))];
  const lines = types.map(
    (type) => `${type} fields (${namesOf(fields, type).join(", ")}) take ${OPERATORS_OF[type].join(", ")}`,
  );
  return (
    "Keys are `field__operator`; a bare `field` means `exact`. " +
    `All must hold; they narrow and never widen. ${lines.join("; ")}.`
  );
}

function namesOf(fields: FilterFields, type: FieldType): string[] {
  return Object.keys(fields)
    .filter((name) => fields[name] === type)
    .map((name) => `\`${name.replace(".*", ".<key>")}\``);
}

/** The `order_by` of a request body, parsed to terms. Absent or null means none. */
export function orderByOf(fields: FilterFields, example: readonly string[]) {
  const names = Object.keys(fields).join(", ").replaceAll(".*", ".<key>");
  return z
    .array(
      z
        .string()
        .max(MAX_TEXT)
        .meta({ pattern: orderPattern(fields) }),
    )
    .max(MAX_ORDER_TERMS)
    .nullish()
    .transform((orderBy, context) =>
      parseOrderBy(orderBy ?? [], fields, (index, reason) => {
        context.issues.push({
          code: "custom",
          path: [index],
          input: orderBy?.[index],
          message: reason,
          params: problem(reason),
        });
      }),
    )
    .meta({
      description:
        "Fields, each with `-` before it for descending order; newest first by default. " +
        `Fields: ${names}.`,
      example,
    });
}
