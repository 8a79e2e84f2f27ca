/** Generated requests at every operation of the OpenAPI document: none fails unexpectedly, none is answered with what the document does not declare. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createOpenApi } from "../src/api/openapi.ts";
import { API_ROUTES } from "../src/api/routes/index.ts";
import { testStack } from "./support/contract-stack.ts";
import { type Document, type Operation, operationsOf, sample } from "./support/samples.ts";
import type { TestStack } from "./support/stack-types.ts";

const RUNS = 60;
const document = createOpenApi(API_ROUTES) as unknown as Document;

let stack: TestStack;
beforeAll(async () => {
  stack = await testStack();
}, 180_000);
afterAll(() => stack.close());

const HOSTILE = [
  "",
  " ",
  "\0",
  "\ud800",
  "😀",
  "%",
  "_",
  "\\",
  "'",
  '"; drop table documents; --',
  "../../etc/passwd",
  "null",
  "NaN",
  "-1",
  "1e400",
  "x".repeat(10_000),
  "2026-01-01",
  "01900000-0000-7000-8000-000000000010",
];
const junk = fc.oneof(
  fc.constantFrom<unknown>(...HOSTILE, null, true, 0, -1, 1.5, 1e300, 2 ** 53, [], {}, [[]]),
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: "binary" }),
  fc.uuid(),
);
const junkText = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: "binary", maxLength: 40 }), fc.integer().map(String), fc.uuid());

interface Generated {
  readonly ids: readonly unknown[];
  readonly query: Readonly<Record<string, string | undefined>>;
  /** Replaces these fields of a right body; `whole` replaces all of it. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly whole: unknown;
}

/** Fields, filters and operators that exist are tried more often than chance would. */
function fieldsOf(operation: Operation): fc.Arbitrary<Record<string, unknown>> {
  const names = Object.keys(operation.body?.["properties"] ?? {});
  const filter = fc.dictionary(
    fc
      .tuple(
        fc.constantFrom("id", "space_id", "name", "file_size", "created_at", "doc_metadata.k", "nothing"),
        fc.constantFrom("", "__exact", "__in", "__icontains", "__gt", "__isnull", "__x"),
      )
      .map((parts) => parts.join("")),
    junk,
    { maxKeys: 3 },
  );
  const value = (name: string): fc.Arbitrary<unknown> =>
    name === "filters" ? fc.oneof(filter, junk) : name === "order_by" ? fc.oneof(fc.array(fc.constantFrom("-created_at", "name", "x")), junk) : junk;
  return fc.subarray(names, { maxLength: Math.min(2, names.length) }).chain((some) => fc.record(Object.fromEntries(some.map((name) => [name, value(name)]))));
}

function requestOf(operation: Operation): fc.Arbitrary<Generated> {
  const ofKind = (kind: string) => operation.parameters.filter((parameter) => parameter["in"] === kind).map((parameter) => parameter["name"] as string);
  return fc.record({
    ids: fc.tuple(...ofKind("path").map((name) => fc.oneof(fc.constant(stack.ids[name] ?? "x"), fc.uuid(), junkText))),
    query: fc.record(Object.fromEntries(ofKind("query").map((name) => [name, junkText])), { requiredKeys: [] }),
    fields: fieldsOf(operation),
    whole: fc.option(junk, { nil: undefined, freq: 5 }),
  });
}

/** Dots and nothing are other paths, not other ids. */
function segment(id: string): string {
  return /^\.{0,2}$/.test(id) ? "-" : encodeURIComponent(id.toWellFormed());
}

async function send(operation: Operation, generated: Generated): Promise<Response> {
  let index = 0;
  const path = operation.path.replaceAll(/\{\w+\}/g, () => segment(String(generated.ids[index++])));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(generated.query)) if (value !== undefined) query.set(name, value.toWellFormed());
  const isForKeys = operation.security.some((scheme) => "apiKey" in scheme);
  const body = bodyOf(operation, generated);
  return fetch(`${stack.url}${path}?${query.toString()}`, {
    method: operation.method,
    headers: {
      authorization: `Bearer ${isForKeys ? stack.credentials.owner : stack.credentials.jwt}`,
      ...(typeof body === "string" ? { "content-type": "application/json" } : {}),
    },
    body,
  });
}

function bodyOf(operation: Operation, { fields, whole }: Generated): string | FormData | null {
  if (operation.body === undefined) return null;
  const right = sample(document, operation.body, { ...stack.ids, model: stack.ids["agent_id"] });
  if (!operation.isForm) return JSON.stringify(whole === undefined ? { ...(right as object), ...fields } : whole) ?? null;
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...(right as object), ...fields }))
    form.append(name, name === "file" ? new Blob([String(value).toWellFormed()]) : String(value).toWellFormed());
  return form;
}

/** A deletion of something that the other operations need would make them answer 404 and prove less. */
const isKeptAlive = (operation: Operation): boolean => operation.method === "DELETE" || operation.path.endsWith("/revoke");

describe.each(operationsOf(document).map((operation) => ({ name: `${operation.method} ${operation.path}`, operation })))("$name", ({ operation }) => {
  test("answers whatever it is sent with what it declares, and never with 500", { timeout: 120_000 }, async () => {
    const property = fc.asyncProperty(requestOf(operation), async (generated) => {
      const response = await send(
        operation,
        isKeptAlive(operation) ? { ...generated, ids: generated.ids.map((id) => (Object.values(stack.ids).includes(String(id)) ? "x" : id)) } : generated,
      );
      await response.text();
      expect(response.status).not.toBe(500);
      // The URL's own bounds are answered before any operation is looked at.
      expect([...Object.keys(operation.responses), "414", "431"]).toContain(String(response.status));
    });
    await fc.assert(property, { numRuns: RUNS, interruptAfterTimeLimit: 60_000 });
  });
});
