/**
 * What a request of the protocol has to work with, and how it uses the routes: each does what it does over
 * HTTP, with the same decision, and leaves the same row in the audit log.
 */
import type { z } from "zod";
import type { Caller } from "../../commands/caller.ts";
import type { McpSession } from "../../db/mcp/sessions.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { auditAs } from "../audit-request.ts";
import type { Deps } from "../deps.ts";
import { jsonPieces } from "../json-answer.ts";
import type { Route, RouteRequest } from "../route.ts";
import { allValues, parsePart } from "../validation/validate.ts";

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

interface RouteAnswer {
  /** The answer as it is sent over HTTP. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the schema of what it is used for checks it
  readonly answer: any;
  readonly warning: string | undefined;
}

/**
 * Asks a route of the API.
 * @param options `isSilent`: the audit log has a row of this already.
 * @throws ValidationProblems, and DomainErrors as the route does.
 */
export async function callRoute(
  route: Route,
  call: McpCall,
  { params = {}, query = {}, body }: Parts,
  { isSilent = false }: { readonly isSilent?: boolean } = {},
): Promise<RouteAnswer> {
  const { principal, request } = call;
  requireCapability(principal, route.capability);
  const note = (outcome: "success" | "denied"): void =>
    auditAs(route, { deps: call.deps, requestId: request.id, params, principal, body }, outcome);
  const parsed = parse(route, { params, query, body });
  const warnings: string[] = [];
  try {
    const answer = await route.handle({
      ...call,
      ...parsed,
      operator: undefined,
      request: { ...request, headers: {}, idempotencyKey: undefined, signal: call.signal },
      reply: {
        status: route.status,
        header: (name, value) => {
          if (name === "Warning") warnings.push(value);
        },
      },
    });
    if (!isSilent) note("success");
    const shown = route.response === undefined ? undefined : await asJson(route, answer);
    return { answer: shown, warning: warnings[0] };
  } catch (error) {
    if (error instanceof DomainError && error.code === "permission_denied") note("denied");
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

async function asJson(route: Route, answer: unknown): Promise<unknown> {
  let text = "";
  for await (const piece of jsonPieces(route.response!, answer)) text += piece;
  return JSON.parse(text) as unknown;
}

function requireCapability({ capabilities }: Principal, capability: Route["capability"]): void {
  if (capability !== undefined && !capabilities.has(capability))
    throw new DomainError(
      "key_out_of_scope",
      `Permission denied: the API key was made without the capability ${capability}`,
    );
}

interface Audited {
  /** An action of the policy. */
  readonly action: string;
  readonly resource: string;
  /** Null for a list. */
  readonly id: string | null;
}

/** Does what no route does, and leaves the row of a read, or of its refusal, in the audit log. */
export async function audited<T>(
  { deps, principal, request }: McpCall,
  { action, resource, id }: Audited,
  work: () => Promise<T>,
): Promise<T> {
  const note = (outcome: "success" | "denied"): void =>
    deps.audit.record(principal, {
      action,
      resource_type: resource,
      resource_id: id,
      space_id: null,
      request_id: request.id,
      outcome,
    });
  try {
    const done = await work();
    note("success");
    return done;
  } catch (error) {
    if (error instanceof DomainError && error.code === "permission_denied") note("denied");
    throw error;
  }
}
