/**
 * Makes the smallest request that an operation of the OpenAPI document accepts, from the document's schemas
 * and examples alone.
 */

export type Schema = Record<string, any>;

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly security: readonly Record<string, unknown>[];
  readonly parameters: readonly Schema[];
  readonly body: Schema | undefined;
  readonly bodyIsRequired: boolean;
  readonly isForm: boolean;
  readonly responses: Readonly<Record<string, Schema>>;
}

export interface Document {
  readonly paths: Record<string, Record<string, Schema>>;
  readonly components: Readonly<Record<string, Record<string, Schema>>>;
}

export function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const content = operation["requestBody"]?.content ?? {};
      const form = content["multipart/form-data"]?.schema;
      return {
        method: method.toUpperCase(),
        path,
        summary: operation["summary"],
        security: operation["security"],
        parameters: (operation["parameters"] ?? []).map((one: Schema) => resolve(document, one)),
        body: resolve(document, form ?? content["application/json"]?.schema),
        bodyIsRequired: operation["requestBody"]?.required === true,
        isForm: form !== undefined,
        responses: Object.fromEntries(
          Object.entries<Schema>(operation["responses"]).map(([status, one]) => [
            status,
            resolve(document, one),
          ]),
        ),
      };
    }),
  );
}

/** Follows a reference to a component. */
export function resolve<Part extends Schema | undefined>(document: Document, part: Part): Part | Schema {
  const [, kind, name] = /^#\/components\/(\w+)\/(.+)$/.exec(part?.["$ref"] ?? "") ?? [];
  return kind === undefined ? part : document.components[kind]![name!]!;
}

/** Returns a value of the schema; properties that `known` names get the value from there. */
export function sample(document: Document, given: Schema, known: Readonly<Record<string, unknown>>): unknown {
  const schema = resolve(document, given) ?? {};
  const alternative = (schema["oneOf"] ?? schema["anyOf"])?.[0];
  if (schema["properties"] !== undefined) return sampleObject(document, schema, known);
  if ("example" in schema) return schema["example"];
  if (alternative !== undefined) return sample(document, alternative, known);
  if (schema["type"] === "array")
    return schema["minItems"] > 0 ? [sample(document, schema["items"], known)] : [];
  return sampleScalar(schema);
}

function sampleScalar(schema: Schema): unknown {
  if ("const" in schema) return schema["const"];
  if (schema["enum"] !== undefined) return schema["enum"][0];
  const plain: Record<string, unknown> = {
    string: "x",
    integer: schema["minimum"] ?? 1,
    number: schema["minimum"] ?? 1,
    boolean: false,
    object: {},
  };
  return plain[schema["type"]] ?? null;
}

function sampleObject(
  document: Document,
  schema: Schema,
  known: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const required: string[] = [...(schema["required"] ?? []), ...(schema["anyOf"]?.[0]?.required ?? [])];
  return Object.fromEntries(
    required.map((name) => [
      name,
      known[name] ?? sample(document, schema["properties"]?.[name] ?? {}, known),
    ]),
  );
}
