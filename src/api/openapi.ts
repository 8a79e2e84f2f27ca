/** Makes the OpenAPI document from the table of routes. */
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from "zod-openapi";
import { z } from "zod";
import { ErrorBody, ValidationErrorBody } from "../schema/error.ts";
import { DELIVERY_HEADERS, EVENT_DATA } from "../schema/event-data.ts";
import { shareRepeats } from "./document/components.ts";
import { addExamples } from "./document/examples.ts";
import { COMPONENT_HEADERS } from "./document/headers.ts";
import { mendReferences } from "./document/references.ts";
import { responsesOf } from "./document/responses.ts";
import { TEXT } from "../schema/requests/patterns.ts";
import type { Route } from "./route.ts";

const API_VERSION = "1.0.0";

const INFO = {
  title: "Holdfast",
  version: API_VERSION,
  description: [
    "Chat with agents, upload and search documents, keep files and folders.",
    "- Every path works with and without a trailing slash. Changes within `/v1` only add fields, values, " +
      "headers and operations.",
    "- Unknown fields in a body that filters or limits something are 422, with a suggestion for the " +
      "closest match; its schema has `additionalProperties: false`. Elsewhere they are ignored and " +
      "named in a `Warning` header.",
    "- Text with a NUL character or an unpaired surrogate, anywhere in a request, is 422.",
    "- Errors have `detail`, a text or the list of a 422's problems, and `error` with a `code` for programs.",
    "- An unsupported method is answered 405 with `Allow`, an unknown path 404, and a request that is " +
      "not valid HTTP 400 or 408; these are not listed with any operation.",
    "- Unless an operation says otherwise, responses have `Cache-Control: no-store`. All have headers " +
      "that keep browsers from sniffing, framing and running them: `X-Content-Type-Options`, " +
      "`X-Frame-Options`, `Referrer-Policy`, `Content-Security-Policy`, " +
      "`Cross-Origin-Resource-Policy`. If the operator allows other origins, they also have `Vary: Origin` and CORS headers.",
  ].join("\n"),
  license: { name: "Apache-2.0", identifier: "Apache-2.0" },
};

/** What each tag is about, in the order of the document. */
const TAGS: Readonly<Record<string, string>> = {
  Health: "Whether the service is up. Needs no credentials.",
  Chat: "Agents as models, in OpenAI's chat completions API.",
  OpenAI: "The rest of OpenAI's API: files, vector stores, responses, embeddings.",
  Spaces: "The units of access: members of a space can access its documents, folders, files and agents.",
  Agents: "Agents answer chats: a model with instructions, tools, and documents it can search.",
  Documents: "Documents are uploaded, processed in the background and found by search.",
  Search: "Finds chunks of documents by their meaning and their words.",
  "Raw files": "The uploaded files, by path within a space.",
  Folders: "The folder tree of each space.",
  Events: "An ordered log of what happened, as a list or a stream.",
  Profile: "The caller's profile.",
  "API keys": "The caller's own keys.",
  Organizations: "The organization's settings, members, keys, audit log and usage, for its admins.",
  Receipts: "Proofs of citations, which can be verified at any time, even without this service.",
  Webhooks: "Events delivered to a URL of the caller.",
  MCP: "Documents, search and agents over the Model Context Protocol.",
  Operations: "The state of the instance, for operators: dependencies, queues, processes, waiting work.",
};

/** Describes `routes`, as plain JSON. Routes with `isDocumented: false` are left out. */
export function createOpenApi(routes: readonly Route[]): Record<string, unknown> {
  const documented = routes.filter((route) => route.isDocumented !== false);
  const paths: ZodOpenApiPathsObject = {};
  for (const route of documented) {
    const path = route.fullPath.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  const document: ZodOpenApiObject = {
    openapi: "3.1.0",
    info: INFO,
    servers: [{ url: "/" }],
    tags: tagsOf(documented),
    paths,
    webhooks: webhooksOf(),
    components: {
      parameters: Object.fromEntries(DELIVERY_HEADERS.map((header) => [header.name, header])),
      schemas: { Error: ErrorBody, ValidationError: ValidationErrorBody },
      headers: COMPONENT_HEADERS,
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", bearerFormat: "sk-…", description: "A user API key" },
        jwt: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "JWT",
          description: "An access token of the identity provider",
        },
      },
    },
  };
  const made = createDocument(document, { override: tidy }) as unknown as Record<string, unknown>;
  mendReferences(made);
  addExamples(made);
  shareRepeats(made);
  return made;
}

/** The tags of operations whose first word is not the tag. */
const TAG_OF: Readonly<Record<string, string>> = {
  models: "Chat",
  runs: "Documents",
  batches: "Documents",
  files: "OpenAI",
  vector_stores: "OpenAI",
  responses: "OpenAI",
  embeddings: "OpenAI",
  me: "Profile",
  api_keys: "API keys",
  mcp: "MCP",
};

function tagOf({ operation = "", path }: Route): string {
  const [noun = ""] = operation.split(".");
  if (noun === "files" && path.startsWith("/spaces/")) return "Raw files";
  return TAG_OF[noun] ?? noun.charAt(0).toUpperCase() + noun.slice(1);
}

function tagsOf(routes: readonly Route[]): { name: string; description?: string }[] {
  return [...new Set(routes.map(tagOf))].map((name) => {
    const description = TAGS[name];
    return description === undefined ? { name } : { name, description };
  });
}

/** What is sent to the webhooks of callers: an event of each type is a message of its own. */
function webhooksOf(): NonNullable<ZodOpenApiObject["webhooks"]> {
  return Object.fromEntries(
    Object.entries(EVENT_DATA).map(([type, data]) => {
      const { $schema: _draft, ...dataSchema } = z.toJSONSchema(data, {
        override: ({ jsonSchema }) => {
          tidy({ jsonSchema, io: "output" });
        },
      });
      const own = { type: "object", properties: { type: { const: type }, data: dataSchema } };
      const schema = { allOf: [{ $ref: "#/components/schemas/Event" }, own] };
      const post = {
        operationId: type,
        summary: `What is sent for an event of the type ${type}.`,
        tags: ["Events"],
        parameters: DELIVERY_HEADERS.map(({ name }) => ({ $ref: `#/components/parameters/${name}` })),
        requestBody: { required: true, content: { "application/json": { schema } } },
        responses: { "200": { description: "The event was received; any status 2xx says so" } },
      };
      return [type, { post } as ZodOpenApiPathsObject[string]];
    }),
  );
}

/**
 * Removes what zod adds and the contract does not promise: `additionalProperties: false` of answers, bounds
 * of JavaScript's integers, patterns of known formats. Adds what is checked of every text of a request.
 */
function tidy({ jsonSchema, io }: { jsonSchema: Record<string, unknown>; io: "input" | "output" }): void {
  if (io === "output" && jsonSchema["additionalProperties"] === false)
    delete jsonSchema["additionalProperties"];
  if (jsonSchema["maximum"] === Number.MAX_SAFE_INTEGER) delete jsonSchema["maximum"];
  if (jsonSchema["minimum"] === Number.MIN_SAFE_INTEGER) delete jsonSchema["minimum"];
  if (io === "input" && isPlainText(jsonSchema)) jsonSchema["pattern"] = TEXT;
  if (jsonSchema["format"] === "uuid" || jsonSchema["format"] === "date-time") delete jsonSchema["pattern"];
}

function isPlainText({
  type,
  format,
  pattern,
  enum: values,
  const: value,
}: Record<string, unknown>): boolean {
  return type === "string" && [format, pattern, values, value].every((keyword) => keyword === undefined);
}

/** @throws Error if the route has no name, so that none is published by accident. */
function operationOf(route: Route): ZodOpenApiOperationObject {
  const { params, query } = route;
  const headers = headerParameters(route);
  const requestBody = requestBodyOf(route);
  if (route.operation === undefined) throw new Error(`${route.method} ${route.path} has no operation`);
  return {
    operationId: route.operation,
    summary: route.summary,
    description: [route.description, callersOf(route)].filter((part) => part !== undefined).join("\n\n"),
    tags: [tagOf(route)],
    security: securityOf(route),
    requestParams: {
      ...(params === undefined ? {} : { path: params }),
      ...(query === undefined ? {} : { query }),
      ...(headers === undefined ? {} : { header: headers }),
    },
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: responsesOf(route),
  };
}

/** Says whose credentials the route takes. */
function callersOf({ access, capability }: Route): string {
  if (access === "public") return "Needs no credentials.";
  if (access === "keys")
    return capability === undefined
      ? "Takes API keys and access tokens."
      : `Takes API keys with the capability \`${capability}\`, and access tokens.`;
  return "Takes access tokens of the identity provider; API keys are answered 401.";
}

function securityOf({ access }: Route): Record<string, string[]>[] {
  if (access === "public") return [];
  return access === "jwt" || access === "operator" ? [{ jwt: [] }] : [{ apiKey: [] }, { jwt: [] }];
}

const HEADER_EXAMPLES: Readonly<Record<string, string>> = {
  "X-Organization-Id": "01900000-0000-7000-8000-000000000001",
  "Idempotency-Key": "upload-2026-01-31-0001",
  "If-Match": '"wJ8kq0Y3mZ1f5pXcR7tVbA"',
  "If-None-Match": '"wJ8kq0Y3mZ1f5pXcR7tVbA"',
  "If-Range": '"wJ8kq0Y3mZ1f5pXcR7tVbA"',
  Range: "bytes=0-1023",
  "Last-Event-ID": "12",
  "Mcp-Session-Id": "5f8c2d1e-7a9b-4c3d-8e6f-0a1b2c3d4e5f",
  "MCP-Protocol-Version": "2025-11-25",
};

function headerParameters(route: Route): z.ZodObject | undefined {
  const described: Record<string, string> = {
    ...(route.access === "public" || route.access === "operator"
      ? {}
      : { "X-Organization-Id": "The caller's organization; any other one is refused with 403" }),
    ...(route.idempotent !== undefined
      ? {
          "Idempotency-Key":
            "Sending the same request again with the same key answers as the first time, for 24 hours",
        }
      : {}),
    ...route.headers,
  };
  const names = Object.keys(described);
  if (names.length === 0) return undefined;
  return z.object(
    Object.fromEntries(
      names.map((name) => [
        name,
        z
          .string()
          .optional()
          .meta({ description: described[name] ?? "", example: HEADER_EXAMPLES[name] }),
      ]),
    ),
  );
}

function requestBodyOf({ body, multipart }: Route): ZodOpenApiOperationObject["requestBody"] {
  if (multipart !== undefined)
    return { required: true, content: { "multipart/form-data": { schema: multipart } } };
  if (body === undefined) return undefined;
  return { required: !body.safeParse(undefined).success, content: { "application/json": { schema: body } } };
}
