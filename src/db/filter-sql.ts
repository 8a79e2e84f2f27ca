/** Turns filters and orders into SQL. Every value becomes a parameter, and no value can make a cast fail. */
import type { Clause, Condition, FieldType, Operator, OrderTerm } from "../domain/requests/conditions.ts";

/**
 * The SQL expression of each field; that of `x.*` is a jsonb object, whose keys are the fields. They become
 * part of the statement, so they must never come from a request.
 */
export type FieldColumns = Readonly<Record<string, string>>;

/** Collects the values of a statement and returns their placeholders. */
export interface Parameters {
  readonly values: unknown[];
  add(value: unknown): string;
}

/** @param values the parameters that the statement has already. */
export function parameters(values: unknown[] = []): Parameters {
  return { values, add: (value) => `$${values.push(value)}` };
}

const CASTS: Record<FieldType, string> = {
  text: "text",
  uuid: "uuid",
  number: "numeric",
  boolean: "boolean",
  timestamp: "timestamptz",
  json: "jsonb",
};
const COMPARISONS: Partial<Record<Operator, string>> = { gt: ">", gte: ">=", lt: "<", lte: "<=" };

/** One expression for `where` of all conditions; `true` for none. With `ne`, a missing value matches. */
export function filterSql(conditions: readonly Clause[], columns: FieldColumns, params: Parameters): string {
  return joined(conditions, "and", columns, params);
}

type Word = "and" | "or";

function joined(clauses: readonly Clause[], word: Word, columns: FieldColumns, params: Parameters): string {
  const parts = clauses.map((clause) => clauseSql(clause, columns, params));
  if (parts.length === 0) return word === "and" ? "true" : "false";
  return parts.join(` ${word} `);
}

function clauseSql(clause: Clause, columns: FieldColumns, params: Parameters): string {
  if ("all" in clause) return `(${joined(clause.all, "and", columns, params)})`;
  if ("any" in clause) return `(${joined(clause.any, "or", columns, params)})`;
  if ("none" in clause) return `not coalesce((${joined(clause.none, "or", columns, params)}), false)`;
  return conditionSql(clause, columns, params);
}

function conditionSql(condition: Condition, columns: FieldColumns, params: Parameters): string {
  const column = columnOf(condition, columns, params);
  const { operator, type, value } = condition;
  if (operator === "isnull") {
    const nullable = type === "json" ? `nullif(${column}, 'null')` : column;
    return value === true ? `${nullable} is null` : `${nullable} is not null`;
  }
  const pattern = likePattern(operator, String(value));
  if (pattern !== null) {
    const like = pattern.isCaseless ? "ilike" : "like";
    const matches = `${comparedText(column, type)} ${like} ${params.add(pattern.pattern)}::text escape '\\'`;
    // A list contains its elements, such as a tag; `?` looks for them among the texts of an array.
    if (operator !== "contains" || type !== "json") return matches;
    const isElement = `jsonb_typeof(${column}) = 'array' and ${column} ? ${params.add(value)}::text`;
    return `coalesce(${matches}, ${isElement})`;
  }
  if (operator === "iexact")
    return `lower(${comparedText(column, type)}) = lower(${params.add(value)}::text)`;
  const comparison = COMPARISONS[operator];
  if (comparison !== undefined) return comparisonSql(column, comparison, { type, value, params });
  const encode = (element: unknown): unknown => (type === "json" ? JSON.stringify(element) : element);
  const cast = CASTS[type];
  if (operator === "in") {
    const elements = (value as readonly unknown[]).map(encode);
    return `${column} = any(${params.add(elements)}::${cast}[])`;
  }
  const equality = operator === "ne" ? "is distinct from" : "=";
  return `${column} ${equality} ${params.add(encode(value))}::${cast}`;
}

/** A value inside jsonb is compared with its own type; a row with another type does not match. */
function comparisonSql(
  column: string,
  comparison: string,
  { type, value, params }: { type: FieldType; value: unknown; params: Parameters },
): string {
  if (type !== "json") return `${column} ${comparison} ${params.add(value)}::${CASTS[type]}`;
  const isOfType = `jsonb_typeof(${column}) = '${typeof value}'`;
  const compared =
    typeof value === "string"
      ? `${column} #>> '{}' ${comparison} ${params.add(value)}::text`
      : // Values of one type are ordered as SQL orders them, without a way through text.
        `${column} ${comparison} ${params.add(JSON.stringify(value))}::jsonb`;
  return `case when ${isOfType} then ${compared} end`;
}

function columnOf(
  { field, jsonKey }: OrderTerm | Condition,
  columns: FieldColumns,
  params: Parameters,
): string {
  const own = jsonKey === null ? undefined : columns[field.replace("*", () => jsonKey)];
  if (own !== undefined) return `to_jsonb(${own})`;
  const column = columns[field];
  if (column === undefined) throw new TypeError(`the field ${field} has no column`);
  return jsonKey === null ? column : `(${column} -> ${params.add(jsonKey)}::text)`;
}

function comparedText(column: string, type: FieldType): string {
  return type === "json"
    ? `case when jsonb_typeof(${column}) = 'string' then ${column} #>> '{}' end`
    : column;
}

const PATTERNS: Partial<Record<Operator, (escaped: string) => string>> = {
  contains: (text) => `%${text}%`,
  icontains: (text) => `%${text}%`,
  startswith: (text) => `${text}%`,
  istartswith: (text) => `${text}%`,
  endswith: (text) => `%${text}`,
};

function likePattern(operator: Operator, text: string): { pattern: string; isCaseless: boolean } | null {
  const pattern = PATTERNS[operator]?.(text.replaceAll(/[\\%_]/g, "\\$&"));
  return pattern === undefined ? null : { pattern, isCaseless: operator.startsWith("i") };
}

/**
 * Makes the terms of an `order by`, newest first if none is given. Rows without a value come last. The order
 * ends with `id`, so it is total and pages do not overlap.
 */
export function orderSql(terms: readonly OrderTerm[], columns: FieldColumns, params: Parameters): string {
  const named = terms.map(
    (term) => `${columnOf(term, columns, params)} ${term.descending ? "desc" : "asc"} nulls last`,
  );
  const isDescending = terms[0]?.descending ?? true;
  const first = named.length === 0 ? [`${columns["created_at"] ?? columns["id"]} desc`] : named;
  return [...first, `${columns["id"]} ${isDescending ? "desc" : "asc"}`].join(", ");
}
