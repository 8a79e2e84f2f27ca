/**
 * Generated requests to every operation of the OpenAPI document get only answers that the document declares.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createOpenApi } from "../../src/api/openapi.ts";
import { API_ROUTES } from "../../src/api/routes/index.ts";
import { answerText } from "../support/clients/answer-text.ts";
import { undeclaredIn } from "../support/clients/declared-body.ts";
import { contractStack } from "../support/stack/contract-stack.ts";
import { OPERATORS } from "../../src/domain/requests/conditions.ts";
import {
  type Document,
  type Operation,
  operationsOf,
  resolve,
  sample,
  type Schema,
} from "../support/clients/samples.ts";

/**
 * The number of requests for each operation. `FUZZ_RUNS=2000 npx vitest run
 * test/contract/properties.stack.test.ts` sends more.
 */
const RUNS = Number(process.env["FUZZ_RUNS"] ?? 40);
const LIMIT_MS = Math.max(60_000, RUNS * 200);
const document = createOpenApi(API_ROUTES) as unknown as Document;

const stack = contractStack();
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
const junkText = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.integer().map(String),
  fc.uuid(),
);

interface Generated {
  readonly ids: readonly unknown[];
  readonly query: Readonly<Record<string, string | undefined>>;
  /** Replaces these fields of a valid body; `whole` replaces all of it. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly whole: unknown;
}

/**
 * Generates values that the schema allows, values that it just does not allow, and junk. Existing ids are
 * tried more often.
 */
function valueOf(given: Schema): fc.Arbitrary<unknown> {
  const schema = resolve(document, given) ?? {};
  return fc.oneof({ weight: 3, arbitrary: nearlyRight(schema) }, { weight: 1, arbitrary: junk });
}

function nearlyRight(schema: Schema): fc.Arbitrary<unknown> {
  const alternatives: Schema[] | undefined = schema["anyOf"] ?? schema["oneOf"];
  if (alternatives !== undefined) return fc.oneof(...alternatives.map(valueOf));
  if (schema["enum"] !== undefined) return fc.constantFrom<unknown>(...schema["enum"]);
  if (/`field__operator`/.test(schema["description"] ?? "")) return filtersOf(schema["description"]);
  const known: Record<string, () => fc.Arbitrary<unknown>> = {
    string: () =>
      schema["format"] === "uuid"
        ? fc.oneof(fc.uuid(), fc.constantFrom(...Object.values(stack.ids)))
        : fc.oneof(junkText, fc.constant(schema["example"])),
    integer: () => numbersOf(schema),
    number: () => numbersOf(schema),
    boolean: () => fc.boolean(),
    array: () => fc.array(valueOf(schema["items"] ?? {}), { maxLength: 4 }),
    object: () => objectOf(schema),
  };
  return known[schema["type"]]?.() ?? junk;
}

function numbersOf({ minimum = 0, maximum = 100 }: Schema): fc.Arbitrary<unknown> {
  return fc.oneof(
    fc.constantFrom<unknown>(minimum, maximum, minimum - 1, maximum + 1, minimum + 0.5),
    fc.integer({ min: Math.ceil(minimum), max: Math.floor(maximum) }),
  );
}

function objectOf(schema: Schema): fc.Arbitrary<unknown> {
  const properties = Object.entries<Schema>(schema["properties"] ?? {});
  if (properties.length === 0) return fc.dictionary(junkText, junk, { maxKeys: 3 });
  return fc.record(Object.fromEntries(properties.map(([name, property]) => [name, valueOf(property)])), {
    requiredKeys: [],
  });
}

/** Generates filters with the fields and operators that the description lists. */
function filtersOf(description: string): fc.Arbitrary<unknown> {
  const fields = [...description.matchAll(/`([\w.<>]+)`/g)].map(([, name]) =>
    name!.replace("<key>", "original_filename"),
  );
  const key = fc
    .tuple(
      fc.constantFrom(...fields, "nothing"),
      fc.constantFrom("", "__wrong", ...OPERATORS.map((operator) => `__${operator}`)),
    )
    .map((parts) => parts.join(""));
  const value = fc.oneof(
    junk,
    fc.constantFrom<unknown>(...Object.values(stack.ids), "2026-01-01T00:00:00+14:00", 12, true),
    fc.array(junkText, { maxLength: 3 }),
  );
  return fc.dictionary(key, value, { maxKeys: 3 });
}

/** Generates some fields of the body; the others keep the values of a valid body. */
function fieldsOf(operation: Operation): fc.Arbitrary<Record<string, unknown>> {
  const properties: Record<string, Schema> =
    resolve(document, operation.body?.["anyOf"]?.[0] ?? operation.body)?.["properties"] ?? {};
  return fc
    .subarray(Object.keys(properties), { maxLength: Math.min(3, Object.keys(properties).length) })
    .chain((some) => fc.record(Object.fromEntries(some.map((name) => [name, valueOf(properties[name]!)]))));
}

function requestOf(operation: Operation): fc.Arbitrary<Generated> {
  const ofKind = (kind: string) =>
    operation.parameters
      .filter((parameter) => parameter["in"] === kind)
      .map((parameter) => parameter["name"] as string);
  return fc.record({
    ids: fc.tuple(
      ...ofKind("path").map((name) => fc.oneof(fc.constant(stack.ids[name] ?? "x"), fc.uuid(), junkText)),
    ),
    query: fc.record(
      Object.fromEntries(
        ofKind("query").map((name) => [
          name,
          fc.oneof(
            junkText,
            valueOf(operation.parameters.find((parameter) => parameter["name"] === name)!["schema"]).map(
              asText,
            ),
          ),
        ]),
      ),
      { requiredKeys: [] },
    ),
    fields: fieldsOf(operation),
    whole: fc.option(junk, { nil: undefined, freq: 5 }),
  });
}

const asText = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");

/** Escapes the id: an empty segment or one of dots would be another path. */
function segment(id: string): string {
  return /^\.{0,2}$/.test(id) ? "-" : encodeURIComponent(id.toWellFormed());
}

/** String() throws for objects whose own `toString` is not a function. */
const textOf = (value: unknown): string =>
  (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).toWellFormed();

async function send(operation: Operation, generated: Generated): Promise<Response> {
  let index = 0;
  const path = operation.path.replaceAll(/\{\w+\}/g, () => segment(textOf(generated.ids[index++])));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(generated.query))
    if (value !== undefined) query.set(name, value.toWellFormed());
  // Otherwise the test would wait for events.
  if (/^[1-9]\d?$/.test(query.get("wait") ?? "")) query.set("wait", "0");
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
  if (!operation.isForm)
    return JSON.stringify(whole === undefined ? { ...(right as object), ...fields } : whole) ?? null;
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...(right as object), ...fields }))
    form.append(name, name === "file" ? new Blob([textOf(value)]) : textOf(value));
  return form;
}

/** Routes of OpenAI's form list what is wrong with a request under 400. */
const isListed = (status: number, body: { detail?: unknown }): boolean =>
  status === 422 || (status === 400 && Array.isArray(body.detail));

const SAID = { problems: expect.arrayContaining([expect.anything()]), sentence: expect.any(String) };
const CURSOR_EXPIRED = { code: "cursor_expired", oldest: expect.any(String) };

function expectDeclaredBody(operation: Operation, response: Response, text: string): void {
  const declared = operation.responses[String(response.status)];
  const mediaTypes = Object.keys(declared?.["content"] ?? {});
  const mediaType = response.headers.get("content-type")?.split(";")[0] ?? "";
  const types = mediaTypes.length === 0 ? ["application/json"] : mediaTypes;
  expect(text === "" || types.includes("*/*") ? [mediaType] : types).toContain(mediaType);
  expect(undeclaredIn(declared, mediaType, text)).toEqual([]);
  if (response.status < 400) return;
  const body = JSON.parse(text);
  expect(body).toMatchObject({
    detail: SAID[isListed(response.status, body) ? "problems" : "sentence"],
    error: expect.objectContaining({
      message: expect.any(String),
      // JSON-RPC has numbers.
      code: expect.any(operation.path === "/mcp" ? Number : String),
    }),
    ...(response.status === 410 ? CURSOR_EXPIRED : {}),
  });
}

/** Deleting what other operations need would make those answer 404 and prove less. */
const isKeptAlive = (operation: Operation): boolean =>
  operation.method === "DELETE" || operation.path.endsWith("/revoke");

describe.each(
  operationsOf(document).map((operation) => ({ name: `${operation.method} ${operation.path}`, operation })),
)("$name", ({ operation }) => {
  test(
    "answers whatever it is sent with what it declares, and never with 500",
    { timeout: 2 * LIMIT_MS },
    async () => {
      const property = fc.asyncProperty(requestOf(operation), async (generated) => {
        const response = await send(
          operation,
          isKeptAlive(operation)
            ? {
                ...generated,
                ids: generated.ids.map((id) => (Object.values(stack.ids).includes(textOf(id)) ? "x" : id)),
              }
            : generated,
        );
        const text = await answerText(response);
        expect(response.status).not.toBe(500);
        expect(Object.keys(operation.responses)).toContain(String(response.status));
        expectDeclaredBody(operation, response, text);
      });
      await fc.assert(property, { numRuns: RUNS, interruptAfterTimeLimit: LIMIT_MS });
    },
  );
});
