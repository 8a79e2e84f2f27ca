/** The OpenAPI document says everything that a client developer must know, and its examples are right. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { createOpenApi } from "../../src/api/openapi.ts";
import { API_ROUTES } from "../../src/api/routes/index.ts";

type Node = Record<string, any>;

const document = createOpenApi(API_ROUTES) as Node;
const operations = Object.entries<Node>(document["paths"]).flatMap(([path, item]) =>
  Object.entries<Node>(item).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    operation,
  })),
);

function resolve(node: Node): Node {
  if (node["$ref"] === undefined) return node;
  const steps = (node["$ref"] as string).split("/").slice(1);
  return resolve(steps.reduce((inner, step) => inner[step], document));
}

/** Fewer letters cannot say a meaning, or only repeat the name. */
const SHORTEST = 8;
const says = (text: unknown): boolean => typeof text === "string" && text.length >= SHORTEST;

/** Whether the schema, or all schemas that it may be, have a description. */
function isDescribed(schema: Node): boolean {
  if (says(schema["description"])) return true;
  if (schema["$ref"] !== undefined) return isDescribed(resolve(schema));
  const alternatives: Node[] | undefined = schema["anyOf"] ?? schema["oneOf"] ?? schema["allOf"];
  return alternatives?.every((one) => one["type"] === "null" || isDescribed(one)) ?? false;
}

/** The fields in a schema that no description explains, except behind references. */
function gapsIn(schema: Node | undefined, at: string): string[] {
  if (schema === undefined || schema["$ref"] !== undefined) return [];
  const properties = Object.entries<Node>(schema["properties"] ?? {});
  const inner = [
    ...["anyOf", "oneOf", "allOf"].flatMap((keyword) => (schema[keyword] ?? []) as Node[]),
    ...[schema["items"], schema["additionalProperties"]].filter((one) => typeof one === "object"),
  ];
  return [
    ...properties.filter(([, field]) => !isDescribed(field)).map(([name]) => `${at}.${name}`),
    ...properties.flatMap(([name, field]) => gapsIn(field, `${at}.${name}`)),
    ...inner.flatMap((one) => gapsIn(one, at)),
  ];
}

const contentsOf = (message: Node | undefined): [string, Node][] =>
  Object.entries(message?.["content"] ?? {});

function messagesOf({ name, operation }: (typeof operations)[number]): [string, Node][] {
  return [
    [`${name} request`, operation["requestBody"]],
    ...Object.entries<Node>(operation["responses"]).map(([status, one]): [string, Node] => [
      `${name} ${status}`,
      resolve(one),
    ]),
  ];
}

test("every operation says what it does, and more", () => {
  const gaps = operations.filter(({ operation: { summary, description } }) => {
    const [own = ""] = ((description as string | undefined) ?? "").split("\n\n");
    return !says(summary) || own.length < 20 || own.startsWith("Takes ") || own === summary;
  });
  expect(gaps.map(({ name }) => name)).toEqual([]);
});

test("every tag is explained", () => {
  expect((document["tags"] as Node[]).filter((tag) => !says(tag["description"]))).toEqual([]);
});

test("every field and every parameter is explained", () => {
  const schemas = Object.entries<Node>(document["components"]["schemas"]).flatMap(([name, schema]) =>
    gapsIn(schema, name),
  );
  const inline = operations
    .flatMap(messagesOf)
    .flatMap(([name, message]) => contentsOf(message).flatMap(([, { schema }]) => gapsIn(schema, name)));
  const events = Object.entries<Node>(document["webhooks"]).flatMap(([name, { post }]) =>
    contentsOf(post["requestBody"]).flatMap(([, { schema }]) =>
      gapsIn(schema, name).filter((at) => !/\.(?:type|data)$/.test(at)),
    ),
  );
  const parameters = operations.flatMap(({ name, operation }) =>
    ((operation["parameters"] ?? []) as Node[])
      .map(resolve)
      .filter((one) => !says(one["description"]) && !isDescribed(one["schema"]))
      .map((one) => `${name} ${one["name"]}`),
  );
  expect([...schemas, ...inline, ...events, ...parameters]).toEqual([]);
});

test("every answer says its headers", () => {
  const gaps = operations.flatMap(({ name, operation }) =>
    Object.entries<Node>(operation["responses"]).flatMap(([status, answer]) => {
      const { headers = {} } = resolve(answer);
      const needed = [
        ...(status === "431" ? [] : ["X-Request-Id"]),
        ...(["429", "503"].includes(status) && operation["operationId"] !== "health.ready"
          ? ["Retry-After"]
          : []),
        ...(operation["security"].length > 0 && !["414", "431"].includes(status)
          ? ["RateLimit-Policy", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"]
          : []),
      ];
      const silent = Object.entries<Node>(headers).filter(
        ([, header]) => !says(resolve(header)["description"]),
      );
      return [...needed.filter((one) => headers[one] === undefined), ...silent.map(([one]) => one)].map(
        (header) => `${name} ${status} ${header}`,
      );
    }),
  );
  expect(gaps).toEqual([]);
});

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

describe("examples", () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  for (const [format, check] of Object.entries<RegExp>({
    uuid: UUID,
    "date-time": /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)?$/,
    date: /^\d{4}-\d{2}-\d{2}$/,
    binary: /./,
  }))
    ajv.addFormat(format, check);
  ajv.addSchema({ $id: "openapi", components: document["components"] });

  /** References lead into the whole document. */
  const rooted = (schema: unknown): object =>
    JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/')) as object;

  const shown = operations.flatMap((one) =>
    messagesOf(one)
      .filter(([at]) => /(?: request| 2\d\d)$/.test(at))
      .flatMap(([at, message]) =>
        contentsOf(message).map(([mediaType, content]) => ({ at: `${at} ${mediaType}`, content })),
      ),
  );

  test.each(shown)("of $at are there and fit their schema", ({ content }) => {
    expect(content).toHaveProperty("example");
    const check = ajv.compile(rooted(content["schema"]));
    check(content["example"]);
    expect(check.errors ?? []).toEqual([]);
  });

  test("of requests are accepted by the checks of their route", () => {
    const refused = API_ROUTES.flatMap((route) => {
      const item = document["paths"][route.fullPath.replaceAll(/:(\w+)/g, "{$1}")];
      const content = contentsOf(item[route.method.toLowerCase()]["requestBody"])[0];
      const schema = route.body;
      if (schema === undefined || content === undefined) return [];
      const { error } = schema.safeParse(content[1]["example"]);
      return error === undefined ? [] : [`${route.method} ${route.fullPath}: ${error.message}`];
    });
    expect(refused).toEqual([]);
  });
});
