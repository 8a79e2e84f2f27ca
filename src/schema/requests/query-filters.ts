/** The `filters` and `order_by` of a GET, which has no body: one JSON object in the query, and a term that may be repeated. */
import { z } from "zod";
import { type FilterFields, parseFilters, parseOrderBy } from "./filters.ts";

/** No address is longer. */
const MAX_FILTER_CHARACTERS = 8_192;
const MAX_ORDER_TERMS = 10;

/** The two parameters over these fields, for the object of a query; `example` is a right value of `filters`. */
export function queryFilters(
  fields: FilterFields,
  example: { readonly filters: string; readonly orderBy: string },
) {
  return {
    filters: z
      .string()
      .max(MAX_FILTER_CHARACTERS)
      .optional()
      .transform((text, context) => {
        const refuse = (key: string, reason: string): void =>
          void context.issues.push({
            code: "custom",
            path: key === "" ? [] : [key],
            input: text,
            message: reason,
          });
        const filters = text === undefined ? {} : readObject(text);
        if (filters === null) refuse("", "must be a JSON object");
        return parseFilters(filters ?? {}, fields, refuse);
      })
      .meta({
        description: `A JSON object with keys \`field__operator\`. Fields: ${Object.keys(fields).join(", ")}.`,
        example: example.filters,
      }),
    order_by: z
      .array(z.string().max(MAX_FILTER_CHARACTERS))
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
