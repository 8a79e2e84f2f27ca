/** What `tools/list` says of each tool: its schemas in the words of JSON Schema, and its hints. */
import { expect, test } from "vitest";
import { shownTools } from "../../../src/api/mcp/tools/index.ts";
import type { Principal } from "../../../src/domain/tenancy/principal.ts";

/** One that is shown every tool. */
const CALLER = {
  capabilities: new Set(["read", "search", "chat", "write"]),
  reach: new Map([["a space", { role: "owner" }]]),
} as unknown as Principal;

type Schema = Readonly<Record<string, unknown>>;

interface Shown {
  readonly name: string;
  readonly inputSchema: Schema;
  readonly outputSchema: Schema;
  readonly annotations: Readonly<Record<string, boolean>>;
}

const TOOLS = shownTools(CALLER) as unknown as Shown[];

/** Those of JSON Schema that the tools use. */
const KEYWORDS =
  "type description default enum const format pattern minLength maxLength minimum maximum properties required " +
  "additionalProperties maxProperties propertyNames items minItems maxItems anyOf oneOf allOf $ref definitions";

const isObject = (value: unknown): value is Schema => typeof value === "object" && value !== null;

/** Every schema in a schema, with itself. */
function schemasIn(schema: Schema): Schema[] {
  const { properties, definitions, items, additionalProperties, anyOf, oneOf, allOf } = schema;
  const parts = [properties, definitions, anyOf, oneOf, allOf]
    .filter(isObject)
    .flatMap((part) => Object.values(part));
  return [schema, ...[items, additionalProperties, ...parts].filter(isObject).flatMap(schemasIn)];
}

test.each(TOOLS)(
  "the schemas of $name have keywords of JSON Schema alone",
  ({ inputSchema, outputSchema }) => {
    const keywords = [inputSchema, outputSchema].flatMap(schemasIn).flatMap((schema) => Object.keys(schema));

    expect([...new Set(keywords)].filter((keyword) => !KEYWORDS.split(" ").includes(keyword))).toEqual([]);
  },
);

test.each(TOOLS)("each argument of $name has a type", ({ inputSchema }) => {
  const untyped = Object.entries(inputSchema["properties"] as Record<string, Schema>)
    .filter(([, { type }]) => type === undefined)
    .map(([argument]) => argument);

  expect(untyped).toEqual([]);
});

test("arguments with any keys are objects with a bound", () => {
  const argumentOf = (tool: string, argument: string) =>
    (TOOLS.find(({ name }) => name === tool)!.inputSchema["properties"] as Record<string, Schema>)[argument];
  const object = { type: "object", description: expect.any(String), additionalProperties: {} };

  expect(argumentOf("search", "filters")).toEqual({ ...object, maxProperties: 50 });
  expect(argumentOf("upload_document", "metadata")).toEqual({ ...object, maxProperties: 10_000 });
});

test("a tool that changes something does not say that a second call is as the first", () => {
  const changing = TOOLS.filter(({ annotations }) => annotations["readOnlyHint"] === false);

  expect(changing.map(({ name, annotations }) => [name, annotations["idempotentHint"]])).toEqual(
    ["ask_agent", "upload_document", "reprocess_document", "delete_document"].map((name) => [name, false]),
  );
});
