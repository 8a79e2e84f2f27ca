/** Filters and orders of lists after their check: from the contract, for the database's SQL. */

/** `json` is a scalar inside an object whose keys are not known: it takes values of any type. */
export type FieldType = "text" | "uuid" | "number" | "boolean" | "timestamp" | "json";

export const OPERATORS = [
  "exact",
  "iexact",
  "ne",
  "in",
  "contains",
  "icontains",
  "startswith",
  "istartswith",
  "endswith",
  "gt",
  "gte",
  "lt",
  "lte",
  "isnull",
] as const;
export type Operator = (typeof OPERATORS)[number];

export type Scalar = string | number | boolean;

/** One condition that holds for a row or not; all conditions of a request must hold. */
export interface Condition {
  /** As the list of allowed fields names it: `file_type`, `doc_metadata.*`. */
  readonly field: string;
  /** The key in the request in place of the `*`; null for a field without one. */
  readonly jsonKey: string | null;
  readonly type: FieldType;
  readonly operator: Operator;
  /** A list for `in`, a boolean for `isnull`, else of the field's type; timestamps are ISO strings in UTC. */
  readonly value: Scalar | readonly Scalar[];
}

/** Conditions that are joined by other words than `and`; they may be nested. */
export type Clause =
  | Condition
  | { readonly all: readonly Clause[] }
  | { readonly any: readonly Clause[] }
  | { readonly none: readonly Clause[] };

export interface OrderTerm {
  readonly field: string;
  readonly jsonKey: string | null;
  readonly descending: boolean;
}
