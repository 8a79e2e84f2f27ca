/** Examples of bodies: those of the document, or made of the examples of their fields. */
import { type ApiDocument, type MediaType, resolve, type Schema } from "./document.ts";

const MAX_DEPTH = 6;

export function exampleOf(api: ApiDocument, media: MediaType, isRequest: boolean): unknown {
  const given = media.example ?? Object.values(media.examples ?? {})[0]?.value;
  // Fields alone do not say which of them a request may have together.
  if (given !== undefined || isRequest || media.schema === undefined) return given;
  return sample(api, media.schema, 0);
}

function sample(api: ApiDocument, part: Schema, depth: number): unknown {
  const schema = resolve(api, part);
  const given = schema.example ?? schema.examples?.[0] ?? schema.const;
  if (given !== undefined || depth > MAX_DEPTH) return given;
  const choice = (schema.anyOf ?? schema.oneOf)?.find(({ type }) => type !== "null");
  if (choice !== undefined) return sample(api, choice, depth);
  if (schema.properties !== undefined) return sampleObject(api, schema.properties, depth);
  if (schema.items === undefined) return plainSample(schema);
  const item = sample(api, schema.items, depth + 1);
  return item === undefined ? [] : [item];
}

const BY_TYPE: Readonly<Record<string, unknown>> = {
  string: "…",
  integer: 1,
  number: 1,
  boolean: true,
  object: {},
};

const plainSample = (schema: Schema): unknown =>
  schema.default ?? schema.enum?.[0] ?? BY_TYPE[[schema.type ?? ""].flat()[0]!];

function sampleObject(
  api: ApiDocument,
  properties: NonNullable<Schema["properties"]>,
  depth: number,
): unknown {
  return Object.fromEntries(
    Object.entries(properties)
      .map(([key, property]) => [key, sample(api, property, depth + 1)] as const)
      .filter(([, value]) => value !== undefined),
  );
}
