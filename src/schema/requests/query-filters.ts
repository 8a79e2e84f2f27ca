/** The `filters` (a JSON object) and `order_by` (which may be repeated) in the query of a GET. */
import { z } from "zod";
import { orderPattern } from "./patterns.ts";
import { type FilterFields, parseFilters, parseOrderBy } from "./filters.ts";

const MAX_FILTER_CHARACTERS = 8_192;
const MAX_ORDER_TERMS = 10;

/** The two parameters, to be spread into the object of a query. */
export function queryFilters(
  fields: FilterFields,
  example: { readonly filters: string; readonly orderBy: string },
) {
  const names = Object.keys(fields).join(", ");
  return {
    filters: z
      .string()
      .max(MAX_FILTER_CHARACTERS)
      .optional()
      .transform((text, context) => {
        const refuse = (key: string, reason: string): void => {
          const path = key === "" ? [] : [key];
          context.issues.push({ code: "custom", path, input: text, message: reason });
        };
        const filters = text === undefined ? {} : readObject(text);
        if (filters === null) refuse("", "must be a JSON object");
        return parseFilters(filters ?? {}, fields, refuse);
      })
      .meta({
        description: `A JSON object with keys \`field__operator\`. Fields: ${names}.`,
        example: example.filters,
      }),
    order_by: z
      .array(
        z
          .string()
          .max(MAX_FILTER_CHARACTERS)
          .meta({ pattern: orderPattern(fields) }),
      )
      .max(MAX_ORDER_TERMS)
      .optional()
      .transform((terms, context) =>
        parseOrderBy(terms ?? [], fields, (index, reason) =>
          context.issues.push({ code: "custom", path: [index], input: terms?.[index], message: reason }),
        ),
      )
      .meta({
        description: "May be repeated; `-` before a field for descending order",
        example: [example.orderBy],
      }),
  };
}

function readObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
