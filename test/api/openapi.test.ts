import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { declaredErrors } from "../../src/api/document/responses.ts";
import { createOpenApi } from "../../src/api/openapi.ts";
import { defineRoute } from "../../src/api/route.ts";
import { API_ROUTES } from "../../src/api/routes/index.ts";
import { Uuid } from "../../src/schema/fields.ts";

const document = createOpenApi(API_ROUTES) as any;
const reached = ({ $ref }: { $ref: string }) =>
  $ref
    .slice(2)
    .split("/")
    .reduce<any>((node, step) => node?.[step], document);
const resolve = (part: any) => ("$ref" in part ? reached(part) : part);
const operations = Object.entries<any>(document.paths).flatMap(([path, item]) =>
  Object.entries<any>(item).map(([method, operation]) => ({
    name: `${method} ${path}`,
    path,
    operation,
    parameters: (operation.parameters ?? []).map(resolve) as any[],
  })),
);

test("every reference leads somewhere", () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, $ref]) => $ref!);
  expect(references.filter(($ref) => reached({ $ref }) === undefined)).toEqual([]);
});

test("what two operations have in common is written once", () => {
  const written = operations.flatMap(({ operation }) =>
    [...(operation.parameters ?? []), ...Object.values<any>(operation.responses)].filter(
      (part) => !("$ref" in part),
    ),
  );
  expect(new Set(written.map((part) => JSON.stringify(part))).size).toBe(written.length);
});

test("each event that is delivered has the headers that sign it", () => {
  const signed = ["id", "timestamp", "signature"].map((name) => `#/components/parameters/webhook-${name}`);
  for (const { post } of Object.values<any>(document.webhooks))
    expect(post.parameters.map(({ $ref }: any) => $ref)).toEqual(signed);
});

test("every operation reads as a call, and no two as the same", () => {
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[a-z_]+(\.[a-z_]+){1,2}$/);
});

describe.each(operations)("$name", ({ path, operation, parameters }) => {
  test("declares every parameter of its path", () => {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    expect(parameters.filter((one) => one.in === "path").map((one) => one.name)).toEqual(named);
  });

  test("says what it does, whom it serves, and how it fails", () => {
    expect(operation.summary).toBeTruthy();
    expect(operation.tags.length).toBeGreaterThan(0);
    const failures = operation.security.length > 0 ? ["403", "429", "500", "503"] : ["500"];
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(failures));
  });
});

/** The places in a schema that need an example and have none; those with few values need none. */
function withoutExample(schema: any, at: string): string[] {
  if (
    schema === undefined ||
    "$ref" in schema ||
    "example" in schema ||
    "enum" in schema ||
    "const" in schema
  )
    return [];
  if (schema.properties !== undefined)
    return Object.entries(schema.properties).flatMap(([name, property]) =>
      withoutExample(property, `${at}.${name}`),
    );
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return alternatives.flatMap((one: any) => withoutExample(one, at));
  if (schema.type === "array") return withoutExample(schema.items, `${at}[]`);
  return schema.type === "boolean" || schema.type === "null" ? [] : [at];
}

test("every parameter and every field has an example", () => {
  const fields = Object.entries<any>(document.components.schemas).flatMap(([name, schema]) =>
    withoutExample(schema, name),
  );
  const parameters = operations.flatMap((operation) =>
    operation.parameters.flatMap((one) => withoutExample(one.schema, `${operation.name} ${one.name}`)),
  );
  expect([...fields, ...parameters]).toEqual([]);
});

test("errors follow from the contract of a route", () => {
  const open = { summary: "A test.", handle: async () => {} } as const;
  expect(declaredErrors(defineRoute("GET /a", { ...open, access: "public", status: 204 }))).toEqual([
    414, 431, 500,
  ]);
  expect(
    declaredErrors(
      defineRoute("POST /a/:id", {
        ...open,
        access: "keys",
        status: 204,
        params: z.object({ id: Uuid }),
        body: z.object({}),
        errors: [412],
      }),
    ),
  ).toEqual([400, 401, 403, 404, 412, 414, 422, 429, 431, 500, 503]);
  expect(
    declaredErrors(
      defineRoute("GET /a", {
        ...open,
        access: "keys",
        status: 204,
        unauthenticatedStatus: 403,
      }),
    ),
  ).toEqual([403, 414, 429, 431, 500, 503]);
});

describe("every schema", () => {
  const folder = new URL("../../src/schema/", import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  test.each(files)("of %s can stand in the document", async (file) => {
    const exported = Object.values(await import(/* @vite-ignore */ new URL(file, folder).href));
    for (const schema of exported.filter((value) => value instanceof z.ZodType)) {
      const route = defineRoute("POST /a", {
        access: "public",
        status: 200,
        summary: "A test.",
        operation: "tests.make",
        body: schema,
        handle: async () => {},
      });
      expect(() => createOpenApi([route])).not.toThrow();
    }
  });
});
