/** Completes the OpenAPI document: adds an example of each request and answer, made from their fields. */

type Json = Record<string, unknown>;

interface Schema {
  readonly [keyword: string]: unknown;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

interface Content {
  readonly schema?: Schema;
  example?: unknown;
}

interface Message {
  readonly content?: Readonly<Record<string, Content>>;
}

interface Operation {
  readonly operationId?: string;
  readonly requestBody?: Message;
  readonly responses: Readonly<Record<string, Message>>;
}

/**
 * Adds an `example` to each content of the requests and of the successful answers that has none. Of a request
 * whose schema has no example it shows the fields that are needed, or all if none is.
 */
export function addExamples(document: Json): void {
  const paths = document["paths"] as Record<string, Record<string, Operation>>;
  for (const operation of Object.values(paths).flatMap((item) => Object.values(item))) {
    show(document, operation.requestBody, "needed");
    for (const [status, response] of Object.entries(operation.responses))
      if (status.startsWith("2")) show(document, response, "all");
    if (operation.operationId === "documents.upload") showAsAccepted(operation.responses["201"]);
  }
}

/** Of a document that was just uploaded nothing is done yet, and its state has the three flags alone. */
function showAsAccepted(response: Message | undefined): void {
  const state = { parsed: false, chunked: false, embedded: false };
  for (const content of Object.values(response?.content ?? {}))
    content.example = { ...(content.example as Json), processing_state: state, version: null };
}

type Extent = "needed" | "all";

function show(document: Json, message: Message | undefined, extent: Extent): void {
  for (const content of Object.values(message?.content ?? {}))
    if (content.schema !== undefined && content.example === undefined)
      content.example = exampleOf(document, content.schema, extent);
}

function exampleOf(document: Json, given: Schema, extent: Extent): unknown {
  const schema = resolve(document, given);
  if ("example" in schema) return schema["example"];
  if ("const" in schema) return schema["const"];
  if (Array.isArray(schema["enum"])) return schema["enum"][0];
  if (schema.properties !== undefined) return objectOf(document, schema, extent);
  const alternatives = (schema["oneOf"] ?? schema["anyOf"]) as readonly Schema[] | undefined;
  if (alternatives !== undefined) return exampleOf(document, alternatives[0]!, extent);
  if (schema.items !== undefined) return [exampleOf(document, schema.items, extent)];
  return schema["type"] === "boolean" ? true : schema["type"] === "object" ? {} : null;
}

function objectOf(document: Json, { properties = {}, required = [] }: Schema, extent: Extent): Json {
  const shown =
    extent === "needed" && required.length > 0
      ? Object.entries(properties).filter(([name]) => required.includes(name))
      : Object.entries(properties);
  return Object.fromEntries(shown.map(([name, field]) => [name, exampleOf(document, field, extent)]));
}

function resolve(document: Json, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const steps = schema.$ref.split("/").slice(1);
  return steps.reduce<unknown>((node, step) => (node as Json)[step], document) as Schema;
}
