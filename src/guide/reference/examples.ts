/** Examples of bodies: those of the document, or made of the examples of their fields. */
import { type ApiDocument, type MediaType, resolve, type Schema } from "./document.ts";

const MAX_DEPTH = 6;

export function exampleOf(api: ApiDocument, media: MediaType, isRequest: boolean): unknown {
  const first = Object.values(media.examples ?? {})[0]?.value;
  return (
    media.example ??
    first ??
    (media.schema === undefined ? undefined : sample(api, media.schema, isRequest, 0))
  );
}

/** Optional fields of a request are left out. */
function sample(api: ApiDocument, part: Schema, isRequest: boolean, depth: number): unknown {
  const schema = resolve(api, part);
  const given = schema.example ?? schema.examples?.[0] ?? schema.const;
  if (given !== undefined || depth > MAX_DEPTH) return given;
  const choice = (schema.anyOf ?? schema.oneOf)?.find(({ type }) => type !== "null");
  if (choice !== undefined) return sample(api, choice, isRequest, depth);
  if (schema.properties !== undefined) return sampleObject(api, schema, isRequest, depth);
  if (schema.items === undefined) return plainSample(schema);
  const item = sample(api, schema.items, isRequest, depth + 1);
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

function sampleObject(api: ApiDocument, schema: Schema, isRequest: boolean, depth: number): unknown {
  const needed = new Set(schema.required ?? []);
  const all = Object.entries(schema.properties ?? {});
  const shown = isRequest && needed.size > 0 ? all.filter(([key]) => needed.has(key)) : all;
  return Object.fromEntries(
    shown
      .map(([key, property]) => [key, sample(api, property, isRequest, depth + 1)] as const)
      .filter(([, value]) => value !== undefined),
  );
}
