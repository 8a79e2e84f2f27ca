/** What clients attach to vector stores and to their files, and the filters that search by it. */
import { z } from "zod";
import type { Clause, Condition, Operator, Scalar } from "../../domain/requests/conditions.ts";
import { withFewKeys } from "../requests/record.ts";

const MAX_PAIRS = 16;
const MAX_KEY = 64;
const MAX_VALUE = 512;

const Key = z.string().max(MAX_KEY);
const Text = z.string().max(MAX_VALUE);
const KEYS = { propertyNames: { maxLength: MAX_KEY } };

/** Of a vector store. */
export const Metadata = withFewKeys(z.record(Key, Text), MAX_PAIRS, {
  ...KEYS,
  additionalProperties: { type: "string", maxLength: MAX_VALUE },
}).meta({
  description: `At most ${MAX_PAIRS} pairs: keys of ${MAX_KEY} characters, texts of ${MAX_VALUE}`,
  example: { team: "service" },
});

const SINGLE_TYPES: ReadonlySet<string> = new Set(["string", "number", "boolean"]);

/** What is wrong with a value of no such type; the alternatives say it of the others. */
const noScalar = ({ input }: { readonly input?: unknown }): string | undefined =>
  SINGLE_TYPES.has(typeof input) ? undefined : "must be a string, a number, true or false";

/** Of a file in one. */
export const AttributesInput = withFewKeys(
  z.record(Key, z.union([Text, z.number(), z.boolean()], { error: noScalar })),
  MAX_PAIRS,
  {
    ...KEYS,
    additionalProperties: {
      anyOf: [{ type: "string", maxLength: MAX_VALUE }, { type: "number" }, { type: "boolean" }],
    },
  },
).meta({
  description:
    `At most ${MAX_PAIRS} pairs: keys of ${MAX_KEY} characters, and texts of ${MAX_VALUE}, numbers, or true and ` +
    "false. They are the document's `doc_metadata`",
  example: { year: 2026, draft: false },
});

export const AttributesOutput = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
  .meta({ description: "The single values among the document's metadata", example: { year: 2026 } });

const OPERATORS: Readonly<Record<string, Operator>> = {
  eq: "exact",
  ne: "ne",
  gt: "gt",
  gte: "gte",
  lt: "lt",
  lte: "lte",
  in: "in",
  nin: "in",
};
const LISTS: ReadonlySet<string> = new Set(["in", "nin"]);
const MAX_CLAUSES = 64;
const MAX_DEPTH = 8;
const MAX_LIST = 100;

type Path = readonly PropertyKey[];

interface Reading {
  /** How many there were so far. */
  count: number;
  readonly refuse: (path: Path, message: string) => void;
}

/** A filter as a clause on documents; null if it was refused. */
function readFilter(given: unknown, path: Path, reading: Reading): Clause | null {
  reading.count += 1;
  if (reading.count > MAX_CLAUSES) {
    // Said once, of the first that is too many.
    if (reading.count === MAX_CLAUSES + 1) reading.refuse(path, `at most ${MAX_CLAUSES} filters are allowed`);
    return null;
  }
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    reading.refuse(path, "must be an object");
    return null;
  }
  const filter = given as Filter;
  const isCompound = filter.type === "and" || filter.type === "or";
  const known = Object.keys((isCompound ? COMPOUND : COMPARISON)["properties"] as object);
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    reading.refuse([...path, unknown.slice(0, MAX_KEY)], `is not known here, only ${known.join(", ")}`);
    return null;
  }
  return isCompound ? readCompound(filter, path, reading) : readComparison(filter, path, reading);
}

type Filter = Readonly<Partial<Record<"type" | "key" | "value" | "filters", unknown>>>;

function readCompound({ type, filters }: Filter, path: Path, reading: Reading): Clause | null {
  if (path.length / 2 >= MAX_DEPTH) {
    reading.refuse(path, `filters are nested at most ${MAX_DEPTH} deep`);
    return null;
  }
  if (!Array.isArray(filters) || filters.length === 0) {
    reading.refuse([...path, "filters"], "must be a list of at least one filter");
    return null;
  }
  const clauses = filters
    .slice(0, MAX_CLAUSES + 1)
    .map((one, index) => readFilter(one, [...path, "filters", index], reading))
    .filter((one) => one !== null);
  return type === "and" ? { all: clauses } : { any: clauses };
}

function readComparison({ type, key, value }: Filter, path: Path, reading: Reading): Clause | null {
  const refuse = (field: string, message: string): null => {
    reading.refuse([...path, field], message);
    return null;
  };
  if (typeof type !== "string" || !Object.hasOwn(OPERATORS, type))
    return refuse("type", `must be one of ${Object.keys(OPERATORS).join(", ")}, and, or`);
  if (typeof key !== "string" || key.length > MAX_KEY)
    return refuse("key", `must be a string of at most ${MAX_KEY} characters`);
  const fault = faultOf(type, value);
  return fault === null ? condition(type, key, value as Scalar | Scalar[]) : refuse("value", fault);
}

const isScalar = (value: unknown): value is Scalar =>
  typeof value === "boolean" ||
  (typeof value === "number" && Number.isFinite(value)) ||
  (typeof value === "string" && value.length <= MAX_VALUE);

const SCALAR = `a string of at most ${MAX_VALUE} characters, a number, true or false`;

function faultOf(type: string, value: unknown): string | null {
  if (!LISTS.has(type)) return isScalar(value) ? null : `must be ${SCALAR}`;
  return Array.isArray(value) && value.length <= MAX_LIST && value.every(isScalar)
    ? null
    : `must be a list of at most ${MAX_LIST} values, each ${SCALAR}`;
}

/** A file without the attribute differs from every value. */
function condition(type: string, key: string, value: Scalar | Scalar[]): Clause {
  const read: Condition = {
    field: "attributes.*",
    jsonKey: key,
    type: "json",
    operator: OPERATORS[type]!,
    value,
  };
  return type === "nin" ? { none: [read] } : read;
}

const COMPARISON: { type: "object" } & Record<string, unknown> = {
  type: "object",
  required: ["type", "key", "value"],
  additionalProperties: false,
  properties: {
    type: { type: "string", enum: Object.keys(OPERATORS), description: "How they are compared" },
    key: { type: "string", maxLength: MAX_KEY, description: "An attribute" },
    value: { description: "What it is compared with: a list for `in` and `nin`" },
  },
};
const COMPOUND: { type: "object" } & Record<string, unknown> = {
  type: "object",
  required: ["type", "filters"],
  additionalProperties: false,
  properties: {
    type: { type: "string", enum: ["and", "or"], description: "Whether all or any must match" },
    filters: {
      type: "array",
      minItems: 1,
      maxItems: MAX_CLAUSES,
      items: { type: "object" },
      description: "Comparisons, and further filters of this form",
    },
  },
};

/** A comparison or compound filter of a search: gives the clause. */
export const AttributeFilter = z
  .unknown()
  .transform((given, context): Clause => {
    const clause = readFilter(given, [], {
      count: 0,
      refuse: (path, message) =>
        context.issues.push({ code: "custom", path: [...path], input: given, message }),
    });
    return clause ?? z.NEVER;
  })
  .meta({
    override: { anyOf: [COMPARISON, COMPOUND] },
    description:
      "On attributes: a comparison (`eq`, `ne`, `gt`, `gte`, `lt`, `lte`, `in`, `nin`), or `and` and `or` of " +
      `filters; at most ${MAX_CLAUSES}, nested ${MAX_DEPTH} deep. A file without the attribute matches \`ne\` and ` +
      "`nin` alone",
    example: { type: "eq", key: "year", value: 2026 },
  });
