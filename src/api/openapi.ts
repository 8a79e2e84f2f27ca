/** Makes the OpenAPI document from the table of routes. */
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from "zod-openapi";
import { z } from "zod";
import { ErrorBody, ValidationErrorBody } from "../schema/error.ts";
import { DELIVERY_HEADERS, EVENT_DATA } from "../schema/event-data.ts";
import { CursorExpired } from "../schema/event.ts";
import type { Route } from "./route.ts";

const API_VERSION = "1.0.0";

const INFO = {
  title: "Holdfast",
  version: API_VERSION,
  description:
    "Chat with agents, upload and search documents, keep files and folders. Every path works with and " +
    "without a trailing slash; unknown body fields are ignored; within `/v1` changes only add.",
  license: { name: "Apache-2.0", identifier: "Apache-2.0" },
};

const ERROR_DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: "The request cannot be served as it is",
  401: "Authentication is missing or invalid, or the endpoint is not open to keys",
  403: "No permission, or another organization",
  404: "Not found, or out of reach",
  410: "What comes after the cursor is not kept any more; `oldest` is the cursor to go on from",
  409: "It does not fit the present state",
  412: "The resource has changed since it was read",
  416: "The range cannot be served",
  422: "Validation failed; all problems are listed",
  429: "Too many requests, or a quota is used up",
  500: "An unexpected failure; the log line with the same X-Request-Id has its cause",
  502: "The model provider failed",
  503: "Something that this needs is down; try again after Retry-After",
  504: "The model provider took too long",
  507: "There is too little free disk space; reads, search and chat go on. Try again after Retry-After",
};

/** Other errors have the body of {@link ErrorBody}. */
const ERROR_BODIES: Readonly<Record<number, z.ZodType>> = { 410: CursorExpired, 422: ValidationErrorBody };

const STATUS_DESCRIPTIONS: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted; work goes on in the background",
  204: "Done, no content",
};

const text = (description: string) => ({ schema: { type: "string" as const }, description });
const number = (description: string) => ({ schema: { type: "integer" as const }, description });

const COMPONENT_HEADERS = {
  "X-Request-Id": text("The id of the request, in the log and the audit log too"),
  "Retry-After": number("Seconds"),
  "RateLimit-Policy": text(
    "The budget nearest to its end, of the key, the user or the organization: " +
      '`"user-requests";q=600;w=60`. Of a 429 the one that is used up',
  ),
  "RateLimit-Limit": number("Requests a minute that this budget has"),
  "RateLimit-Remaining": number("What is left of it in this minute"),
  "RateLimit-Reset": number("Seconds until the minute is over"),
  "WWW-Authenticate": text("Bearer"),
};
type HeaderName = keyof typeof COMPONENT_HEADERS;

const headerRefs = (...names: HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` as const }]));

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
    tags: [...new Set(documented.flatMap((route) => route.tags))].map((name) => ({ name })),
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
  return createDocument(document, { override: tidy }) as unknown as Record<string, unknown>;
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
 * Removes what zod adds and the contract does not promise: `additionalProperties: false` of answers, the
 * bounds of JavaScript's integers, patterns of known formats.
 */
function tidy({ jsonSchema, io }: { jsonSchema: Record<string, unknown>; io: "input" | "output" }): void {
  if (io === "output" && jsonSchema["additionalProperties"] === false)
    delete jsonSchema["additionalProperties"];
  if (jsonSchema["maximum"] === Number.MAX_SAFE_INTEGER) delete jsonSchema["maximum"];
  if (jsonSchema["minimum"] === Number.MIN_SAFE_INTEGER) delete jsonSchema["minimum"];
  if (jsonSchema["format"] === "uuid" || jsonSchema["format"] === "date-time") delete jsonSchema["pattern"];
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
    ...(route.description === undefined ? {} : { description: route.description }),
    tags: [...route.tags],
    security: securityOf(route),
    requestParams: {
      ...(params === undefined ? {} : { path: params }),
      ...(query === undefined ? {} : { query }),
      ...(headers === undefined ? {} : { header: headers }),
    },
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: { ...successes(route), ...failures(route) },
  };
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

function successes(route: Route): Record<string, ZodOpenApiResponseObject> {
  const json =
    route.response === undefined || route.status === 204
      ? {}
      : { "application/json": { schema: route.response } };
  const others = Object.fromEntries(
    Object.entries(route.otherContent ?? {}).map(([mediaType, { schema }]) => [mediaType, { schema }]),
  );
  const content = { ...json, ...others };
  const limits =
    route.access === "public"
      ? {}
      : headerRefs("RateLimit-Policy", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset");
  const own = Object.fromEntries(
    Object.entries(route.replyHeaders ?? {}).map(([name, description]) => [name, text(description)]),
  );
  const answer = {
    headers: { ...headerRefs("X-Request-Id"), ...limits, ...own },
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
  // A 304 has no content.
  const extra = Object.entries(route.otherStatuses ?? {}).map(([status, description]) => [
    status,
    { ...(status === "304" ? { headers: answer.headers } : answer), description },
  ]);
  return {
    [String(route.status)]: { ...answer, description: STATUS_DESCRIPTIONS[route.status] ?? "" },
    ...Object.fromEntries(extra),
  } as Record<string, ZodOpenApiResponseObject>;
}

function failures(route: Route): Record<string, ZodOpenApiResponseObject> {
  return Object.fromEntries(
    declaredErrors(route).map((status) => {
      const schema = ERROR_BODIES[status] ?? ErrorBody;
      const more: HeaderName[] =
        status === 401 ? ["WWW-Authenticate"] : [429, 503, 507].includes(status) ? ["Retry-After"] : [];
      return [
        String(status),
        {
          description: ERROR_DESCRIPTIONS[status] ?? "Failure",
          headers: headerRefs("X-Request-Id", ...more),
          content: { "application/json": { schema } },
        },
      ];
    }),
  );
}

/** Lists the error statuses that the route may answer with, in order. */
export function declaredErrors(route: Route): number[] {
  const hasBody = route.body !== undefined || route.multipart !== undefined;
  const hasParams = route.params !== undefined && Object.keys(route.params.shape).length > 0;
  const isChecked = hasBody || hasParams || route.query !== undefined || route.idempotent !== undefined;
  const authenticated = route.access === "public" ? [] : [route.unauthenticatedStatus ?? 401, 403, 429, 503];
  const statuses = [
    500,
    ...(route.errors ?? []),
    ...authenticated,
    ...(hasBody ? [400] : []),
    ...(isChecked ? [422] : []),
    ...(hasParams ? [404] : []),
  ];
  return [...new Set(statuses)].toSorted((a, b) => a - b);
}
