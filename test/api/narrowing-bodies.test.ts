/**
 * A body that narrows or limits something refuses members that it does not know, and names the nearest one
 * that it does: passed over, a misspelled one would make the result wider than what was asked for.
 */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createOpenApi } from "../../src/api/openapi.ts";
import type { Route } from "../../src/api/route.ts";
import { API_ROUTES } from "../../src/api/routes/index.ts";
import { writtenBack } from "../../src/schema/requests/written-back.ts";
import { problem, problemsOf } from "../support/clients/problems.ts";

type Node = Record<string, any>;

/** Bodies that take unknown members, as the specification's are said to, each with its reason. */
const OPEN: Readonly<Record<string, string>> = {
  "POST /v1/chat/completions": "OpenAI's clients send parameters that are accepted and ignored",
  "POST /v1/responses": "OpenAI's clients do; its file_search refuses them itself",
  "POST /v1/embeddings": "OpenAI's clients do; it reads nothing that is stored",
  "POST /v1/vector_stores": "OpenAI's clients do; a new store reaches nothing",
  "POST /v1/vector_stores/{vector_store_id}": "OpenAI's clients do; it changes a name and metadata",
  "POST /v1/vector_stores/{vector_store_id}/files": "OpenAI's clients do; it adds the one file that is named",
  "POST /v1/vector_stores/{vector_store_id}/files/{file_id}": "OpenAI's clients do; it changes attributes",
  "POST /v1/vector_stores/{vector_store_id}/file_batches":
    "OpenAI's clients do; it adds the files that are named",
  "POST /v1/api-keys/revoke-leaked": "Scanners send more than the texts",
  "POST /v1/receipts/verify": "It answers about the one receipt that is sent",
  "POST /v1/spaces": "A name alone",
  "PATCH /v1/spaces/{space_id}": "A name alone",
  "POST /v1/spaces/{space_id}/data/folders": "A path alone",
  "PATCH /v1/spaces/{space_id}/data/rename": "Two paths, both required",
  "POST /v1/folders": "It makes one folder",
  "POST /v1/folders/ensure": "It makes the folders that are named",
  "PATCH /v1/folders/{folder_id}": "It changes the one folder of the path",
  "POST /v1/data/status": "Ids alone, which are required",
  "PATCH /v1/data/{document_id}": "It changes the one document of the path",
  "POST /v1/data/{document_id}/reprocess": "It processes the one document of the path",
};

const document = createOpenApi(API_ROUTES) as Node;
const pathOf = (route: Route): string => route.fullPath.replaceAll(/:(\w+)/g, "{$1}");
const bodies = API_ROUTES.flatMap((route) => {
  const operation: Node | undefined = document["paths"][pathOf(route)]?.[route.method.toLowerCase()];
  const schema: Node | undefined = operation?.["requestBody"]?.["content"]["application/json"]?.["schema"];
  return schema === undefined ? [] : [{ name: `${route.method} ${pathOf(route)}`, route, schema }];
});
const closed = bodies.filter(({ name }) => OPEN[name] === undefined && name !== "POST /mcp");

function resolve(node: Node): Node {
  if (node["$ref"] === undefined) return node;
  const steps = (node["$ref"] as string).split("/").slice(1);
  return resolve(steps.reduce((inner, step) => inner[step], document));
}

/** Every object with members of its own in a schema, with where it is. */
function objectsIn(schema: Node, at: string): { at: string; node: Node }[] {
  const node = resolve(schema);
  const properties = Object.entries<Node>(node["properties"] ?? {});
  return [
    ...(node["properties"] === undefined ? [] : [{ at, node }]),
    ...properties.flatMap(([name, inner]) => objectsIn(inner, `${at}.${name}`)),
    ...["anyOf", "oneOf", "allOf"]
      .flatMap((keyword) => (node[keyword] ?? []) as Node[])
      .flatMap((inner) => objectsIn(inner, at)),
    ...(typeof node["items"] === "object" ? objectsIn(node["items"], `${at}[]`) : []),
  ];
}

test("every JSON body says that it refuses unknown members, or is listed as one that need not", () => {
  const open = closed.flatMap(({ name, schema }) =>
    objectsIn(schema, name)
      .filter(({ node }) => node["additionalProperties"] !== false)
      .map(({ at }) => at),
  );
  expect(open).toEqual([]);
  expect(closed.length).toBeGreaterThan(20);
  expect(Object.keys(OPEN).filter((name) => !bodies.some((body) => body.name === name))).toEqual([]);
});

describe.each(closed)("$name", ({ route, schema }) => {
  const names = Object.keys(resolve(schema["anyOf"]?.[0] ?? schema)["properties"] as object);

  test.each(names)("names %s where it is misspelled", (name) => {
    const wrong = `_${name}`;

    expect(problemsOf(route.body!, { [wrong]: 1 })).toContainEqual({
      ...problem("extra_forbidden", ["body", wrong], "", expect.anything()),
      msg: `Extra inputs are not permitted; did you mean ${name}?`,
    });
  });
});

test("a name that is like none is refused without a guess, and a hundred of them are named", () => {
  const schema = z.strictObject({ spaces: z.unknown().optional(), expires_at: z.unknown().optional() });
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`name${at}`, at]));

  expect(problemsOf(schema, { colour: 1, space_ids: [] })).toEqual([
    problem("extra_forbidden", ["body", "colour"], "Extra inputs are not permitted", 1),
    problem(
      "extra_forbidden",
      ["body", "space_ids"],
      "Extra inputs are not permitted; did you mean spaces?",
      [],
    ),
  ]);
  expect(problemsOf(schema, many)).toHaveLength(101);
  expect(problemsOf(schema, { ["s".repeat(1_000_000)]: 1 })).toHaveLength(1);
});

test("a resource that was read may be written back, and a misspelled member of it may not", () => {
  const Resource = z.object({ id: z.string(), name: z.string(), created_at: z.string() });
  const schema = writtenBack(Resource, z.strictObject({ name: z.string() }));

  expect(schema.parse({ id: "1", name: "a", created_at: "now" })).toEqual({ name: "a" });
  expect(problemsOf(schema, { id: "1", nam: "a", name: "b" })).toEqual([
    problem("extra_forbidden", ["body", "nam"], "Extra inputs are not permitted; did you mean name?", "a"),
  ]);
});
