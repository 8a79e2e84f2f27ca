/**
 * Lists every schema of a request's path, query, body or form, from the table of routes, and walks through
 * the schemas that they are made of.
 */
import { z } from "zod";
import { ROUTES } from "../../../src/api/routes/index.ts";

export interface NamedSchema {
  readonly name: string;
  readonly schema: z.ZodType;
}

export function requestSchemas(): NamedSchema[] {
  return ROUTES.flatMap(({ method, fullPath, params, query, body, multipart }) =>
    Object.entries({ params, query, body, multipart }).flatMap(([part, schema]) =>
      schema === undefined ? [] : [{ name: `${method} ${fullPath} ${part}`, schema }],
    ),
  );
}

/**
 * Returns the schemas that a schema is made of, by the field that holds each. Of a pipe, only the beginning
 * is returned: the end sees only what the beginning has let through.
 */
export function partsOf(schema: z.ZodType): Record<string, z.ZodType> {
  if (schema instanceof z.ZodObject) return schema.shape as Record<string, z.ZodType>;
  if (schema instanceof z.ZodArray) return { "[]": schema.element as z.ZodType };
  if (schema instanceof z.ZodRecord) return { "{}": schema.valueType as z.ZodType };
  if (schema instanceof z.ZodUnion)
    return Object.fromEntries(schema.options.map((option, index) => [`|${index}`, option as z.ZodType]));
  if (schema instanceof z.ZodPipe) return { "<": schema.in as z.ZodType, ">": schema.out as z.ZodType };
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return { "?": schema.unwrap() as z.ZodType };
  return {};
}
