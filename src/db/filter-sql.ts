/** The only place that makes SQL of filters and orders: parameters for every value, and casts that no value can break. */
import type { Condition, FieldType, Operator, OrderTerm } from "../domain/conditions.ts";

/** The SQL expression of each field; for `x.*` a jsonb object whose keys are meant. Written by us, never from a request. */
export type FieldColumns = Readonly<Record<string, string>>;

/** Collects values and hands out their placeholders. */
export interface Parameters {
  readonly values: unknown[];
  add(value: unknown): string;
}

/** Placeholders after those that `values` holds already. */
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

/** All conditions as one expression for `where`; `true` where there are none. A row without a value is unequal to every value (`ne`). */
export function filterSql(
  conditions: readonly Condition[],
  columns: FieldColumns,
  params: Parameters,
): string {
  const parts = conditions.map((condition) => conditionSql(condition, columns, params));
  return parts.length === 0 ? "true" : parts.join(" and ");
}

function conditionSql(condition: Condition, columns: FieldColumns, params: Parameters): string {
  const column = columnOf(condition, columns, params);
  const { operator, type, value } = condition;
  if (operator === "isnull")
    return `${type === "json" ? `nullif(${column}, 'null')` : column} is ${value === true ? "" : "not "}null`;
  const pattern = likePattern(operator, String(value));
  if (pattern !== null)
    return `${textOf(column, type)} ${pattern.isCaseless ? "ilike" : "like"} ${params.add(pattern.pattern)}::text escape '\\'`;
  if (operator === "iexact") return `lower(${textOf(column, type)}) = lower(${params.add(value)}::text)`;
  const comparison = COMPARISONS[operator];
  if (comparison !== undefined) return comparisonSql(column, comparison, { type, value, params });
  const encode = (element: unknown): unknown => (type === "json" ? JSON.stringify(element) : element);
  if (operator === "in")
    return `${column} = any(${params.add((value as readonly unknown[]).map(encode))}::${CASTS[type]}[])`;
  return `${column} ${operator === "ne" ? "is distinct from" : "="} ${params.add(encode(value))}::${CASTS[type]}`;
}

/** Values inside jsonb are compared only with those of their own type: a row with another type is no match, and never an error. */
function comparisonSql(
  column: string,
  comparison: string,
  { type, value, params }: { type: FieldType; value: unknown; params: Parameters },
): string {
  if (type !== "json") return `${column} ${comparison} ${params.add(value)}::${CASTS[type]}`;
  const jsonType = typeof value;
  const cast = jsonType === "string" ? "text" : jsonType === "number" ? "numeric" : "boolean";
  return `case when jsonb_typeof(${column}) = '${jsonType}' then (${column} #>> '{}')::${cast} end ${comparison} ${params.add(value)}::${cast}`;
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

function textOf(column: string, type: FieldType): string {
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

/** The order of a list, total because it ends with `id`; newest first where no term is given. Rows without a value come last. */
export function orderSql(terms: readonly OrderTerm[], columns: FieldColumns, params: Parameters): string {
  const named = terms.map(
    (term) => `${columnOf(term, columns, params)} ${term.descending ? "desc" : "asc"} nulls last`,
  );
  const isDescending = terms[0]?.descending ?? true;
  const first = named.length === 0 ? [`${columns["created_at"] ?? columns["id"]} desc`] : named;
  return [...first, `${columns["id"]} ${isDescending ? "desc" : "asc"}`].join(", ");
}
