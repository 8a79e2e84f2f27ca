/** Holds answers to the OpenAPI document: they have what it says, and no field that it does not name. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { createOpenApi } from "../../../src/api/openapi.ts";
import { API_ROUTES } from "../../../src/api/routes/index.ts";
import type { Schema } from "./samples.ts";

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ ...closed(createOpenApi(API_ROUTES)), $id: "openapi" });
const checks = new WeakMap<Schema, ValidateFunction>();

/** The document allows answers to have more fields, so that later versions may add some: here none is. */
function closed(part: object): object {
  const text = JSON.stringify(part).replaceAll('"#/components/', '"openapi#/components/');
  return JSON.parse(text, (_key, node) =>
    node?.type === "object" && node.properties !== undefined && node.additionalProperties === undefined
      ? { ...node, additionalProperties: false }
      : node,
  ) as object;
}

/** @returns what the body, or an event of the stream, has that the answer of the document has not. */
export function undeclaredIn(
  answer: Schema | undefined,
  contentType: string | null,
  text: string,
): unknown[] {
  const mediaType = contentType?.split(";")[0] ?? "";
  const schema: Schema | undefined = answer?.["content"]?.[mediaType]?.schema;
  if (schema === undefined || text === "" || schema["type"] === "string") return [];
  const check = checks.get(schema) ?? ajv.compile(closed(schema));
  checks.set(schema, check);
  return valuesIn(mediaType, text).flatMap((value) =>
    check(value) ? [] : [{ value, errors: check.errors }],
  );
}

function valuesIn(mediaType: string, text: string): unknown[] {
  if (mediaType === "application/json") return [JSON.parse(text)];
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!) as unknown);
}
