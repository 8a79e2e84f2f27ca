/**
 * Routes of all kinds without anything behind them, for tests of what the HTTP layer does around a handler.
 */
import { z } from "zod";
import { raw, stream } from "../../../src/api/response.ts";
import { defineRoute } from "../../../src/api/route.ts";
import { DomainError } from "../../../src/domain/errors.ts";
import { pageQuery, Uuid } from "../../../src/schema/fields.ts";

const open = { access: "public", status: 200, summary: "A test.", tags: ["Test"] } as const;
export const ID = "01900000-0000-7000-8000-000000000010";
const Thing = z.object({
  name: z.string(),
  count: z.int().optional(),
  ids: z.array(Uuid).optional(),
  meta: z.record(z.string(), z.unknown()).optional(),
});
const sawAbort = Promise.withResolvers<void>();
/** Resolves when the request of `GET /v1/waits` is aborted. */
export const waitsWasAborted = sawAbort.promise;

export const THING_ROUTES = [
  defineRoute("GET /things/:thing_id", {
    ...open,
    operation: "things.a",
    params: z.object({ thing_id: Uuid }),
    response: z.object({ id: Uuid }),
    handle: async ({ params }) => ({ id: params.thing_id }),
  }),
  defineRoute("DELETE /things/:thing_id", {
    ...open,
    operation: "things.b",
    status: 204,
    params: z.object({ thing_id: Uuid }),
    handle: async () => {},
  }),
  defineRoute("POST /things/search", {
    ...open,
    operation: "things.c",
    query: pageQuery(),
    body: Thing,
    response: z.object({ name: z.string(), page: z.int() }),
    handle: async ({ body, query }) => ({ name: body.name, page: query.page, secret: "not in the contract" }),
  }),
  defineRoute("POST /things/:thing_id/redo", {
    ...open,
    operation: "things.d",
    params: z.object({ thing_id: Uuid }),
    query: pageQuery(),
    body: Thing.nullish(),
    status: 202,
    response: z.object({ had_body: z.boolean() }),
    handle: async ({ body }) => ({ had_body: body !== undefined && body !== null }),
  }),
  defineRoute("GET /locked/:thing_id", {
    ...open,
    access: "keys",
    operation: "things.e",
    params: z.object({ thing_id: Uuid }),
    handle: async () => {},
  }),
  defineRoute("GET /download", {
    ...open,
    access: "keys",
    unauthenticatedStatus: 403,
    operation: "things.f",
    handle: async () => {},
  }),
  defineRoute("POST /upload", {
    ...open,
    access: "keys",
    operation: "things.g",
    handle: async () => {},
  }),
  defineRoute("GET /fails", {
    ...open,
    operation: "things.h",
    handle: () => Promise.reject(new Error("select * from secrets")),
  }),
  defineRoute("GET /leaks", {
    ...open,
    operation: "things.i",
    response: z.object({ id: Uuid }),
    handle: async () => ({ id: "no id" }),
  }),
  defineRoute("GET /busy", {
    ...open,
    operation: "things.j",
    handle: () =>
      Promise.reject(
        new DomainError("provider_rate_limited", "The model is busy.", { retryAfterSeconds: 7 }),
      ),
  }),
  defineRoute("GET /down", {
    ...open,
    operation: "things.k",
    handle: () => Promise.reject(new DomainError("database_unavailable", "The database is not reachable.")),
  }),
  defineRoute("GET /rejected", {
    ...open,
    operation: "things.l",
    handle: () => Promise.reject(new DomainError("rejected_by_provider", "The provider refused.")),
  }),
  defineRoute("GET /text", {
    ...open,
    operation: "things.m",
    handle: async () =>
      raw({ contentType: "text/markdown; charset=utf-8", body: "# Hi", headers: { ETag: '"1"' } }),
  }),
  defineRoute("GET /events", {
    ...open,
    operation: "things.n",
    handle: async () =>
      stream(async (res) => {
        res.writeHead(200, { "content-type": "text/event-stream" }).end("data: 1\n\n");
      }),
  }),
  defineRoute("GET /waits", {
    ...open,
    operation: "things.o",
    async handle({ request }) {
      request.signal.addEventListener("abort", () => sawAbort.resolve());
      return stream(async (res) => {
        res.writeHead(200).write("x");
      });
    },
  }),
];

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body if it is a JSON object, else its text. */
  readonly body: any;
  readonly text: string;
}

/** Asks the server at `origin`. */
export async function ask(
  origin: string,
  method: string,
  path: string,
  init: RequestInit = {},
): Promise<Answer> {
  const response = await fetch(`${origin}${path}`, { method, ...init });
  const text = await response.text();
  const body = text.startsWith("{") ? JSON.parse(text) : text;
  return { status: response.status, headers: response.headers, text, body };
}

/** A JSON body: a text is sent as it is. */
export function json(body: unknown): RequestInit {
  return {
    body: typeof body === "string" ? body : JSON.stringify(body),
    headers: { "content-type": "application/json" },
  };
}
