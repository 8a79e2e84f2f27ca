/**
 * What a request of the protocol has to work with, and how it uses the routes: each does what it does over
 * HTTP, with the same decision, and leaves the same row in the audit log.
 */
import type { z } from "zod";
import type { Caller } from "../../commands/caller.ts";
import type { McpSession } from "../../db/mcp/sessions.ts";
import { readTenant } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { auditRead, auditRefusal } from "../audit-request.ts";
import type { Deps } from "../deps.ts";
import { jsonPieces } from "../json-answer.ts";
import type { Route, RouteRequest } from "../route.ts";
import { allValues, parsePart } from "../validation/validate.ts";
import { MCP_PATH } from "./resource.ts";

/** By which all of it comes. */
const DOOR = { method: "POST", fullPath: MCP_PATH } as const;

export interface McpCall {
  readonly deps: Deps;
  readonly principal: Principal;
  readonly caller: Caller;
  readonly request: RouteRequest;
  /** Undefined while it begins. */
  readonly session: McpSession | undefined;
  /** Aborted if the client does not want the answer any more. */
  readonly signal: AbortSignal;
  /** Says which documents the answer may tell of, before it does: an answer that is kept is bound to them. */
  readonly shown: (documentIds: readonly string[]) => void;
  /** Tells the client how far the work is, if it asked for that. */
  readonly progress: (report: Progress) => void;
}

interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

interface Parts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

interface RouteAnswer<R extends z.ZodType> {
  /** The answer as it is sent over HTTP. */
  readonly answer: z.output<R>;
  readonly warning: string | undefined;
}

/**
 * Asks a route of the API.
 * @param options `isSilent`: the audit log has a row of this already.
 * @throws ValidationProblems, and DomainErrors as the route does.
 */
export async function callRoute<R extends z.ZodType>(
  route: Route<R>,
  call: McpCall,
  { params = {}, query = {}, body }: Parts,
  { isSilent = false }: { readonly isSilent?: boolean } = {},
): Promise<RouteAnswer<R>> {
  const { deps, principal, request } = call;
  const about = { deps, requestId: request.id, params, principal, body };
  const warnings: string[] = [];
  let hasOpened = false;
  try {
    requireCapability(principal, route.capability);
    const parsed = parse(route, { params, query, body });
    const answer = await route.handle({
      ...call,
      ...parsed,
      operator: undefined,
      read: (work) => readTenant(deps.db, principal.organization, work),
      request: {
        ...request,
        headers: {},
        idempotencyKey: undefined,
        signal: call.signal,
        opened(content) {
          request.opened(content);
          hasOpened ||= content.type === "document";
        },
      },
      reply: {
        status: route.status,
        header: (name, value) => {
          if (name === "Warning") warnings.push(value);
        },
      },
    });
    if (!isSilent) auditRead(route, about, hasOpened);
    const shown = route.response === undefined ? undefined : await asJson(route.response, answer);
    return { answer: shown as z.output<R>, warning: warnings[0] };
  } catch (error) {
    if (!isSilent) auditRefusal({ ...DOOR, audit: route.audit }, about, error);
    throw error;
  }
}

function parse(route: Route, { params, query, body }: Parts) {
  const part = (schema: z.ZodType | undefined, given: unknown, name: "path" | "query" | "body") =>
    schema === undefined ? { value: name === "body" ? undefined : {} } : parsePart(schema, given, name);
  return allValues({
    params: part(route.params, params, "path"),
    query: part(route.query, query, "query"),
    body: part(route.body, body, "body"),
  });
}

async function asJson(schema: z.ZodType, answer: unknown): Promise<unknown> {
  let text = "";
  for await (const piece of jsonPieces(schema, answer)) text += piece;
  return JSON.parse(text) as unknown;
}

function requireCapability({ capabilities }: Principal, capability: Route["capability"]): void {
  if (capability !== undefined && !capabilities.has(capability))
    throw new DomainError(
      "key_out_of_scope",
      `Permission denied: the API key lacks the capability ${capability}`,
    );
}

interface Audited {
  readonly action: string;
  readonly resource: string;
  /** Null for a list. */
  readonly id: string | null;
}

/** Does what no route does, and leaves the row of a read, or of its refusal, in the audit log. */
export async function audited<T>(call: McpCall, asked: Audited, work: () => Promise<T>): Promise<T> {
  const done = await auditedIfRefused(call, asked, work);
  call.deps.audit.record(call.principal, {
    action: asked.action,
    resource_type: asked.resource,
    resource_id: asked.id,
    space_id: null,
    request_id: call.request.id,
    outcome: "success",
  });
  return done;
}

/** The same for work that notes itself what it reads. */
export async function auditedIfRefused<T>(call: McpCall, asked: Audited, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    noteRefusal(call, asked, error);
    throw error;
  }
}

export function noteRefusal(
  { deps, principal, request }: McpCall,
  { action, resource, id }: Audited,
  error: unknown,
): void {
  const params = id === null ? {} : { [`${resource}_id`]: id };
  const about = { deps, requestId: request.id, params, principal, body: undefined };
  auditRefusal({ ...DOOR, audit: { action, resource } }, about, error);
}
