/** The only way to make an endpoint: `defineRoute` holds its contract, from which types, checks, OpenAPI and the contract test come. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { z } from "zod";
import type { Caller } from "../commands/caller.ts";
import type { Deps } from "./deps.ts";
import type { Capability, Principal } from "../domain/tenancy/principal.ts";
import type { Idempotency, RepeatCheck } from "./idempotency.ts";
import type { Parts } from "./json-answer.ts";
import type { JsonLimits } from "./body/json-limits.ts";
import type { RawAnswer, StreamAnswer } from "./response.ts";

/** Who is let in: holders of keys and identity-provider tokens, of tokens alone, operators (who need belong to no organization), or everybody. */
export type Access = "keys" | "jwt" | "operator" | "public";
/** Access for which a request has a principal. */
type PrincipalAccess = "keys" | "jwt";
type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface RouteRequest {
  /** The `X-Request-Id` of the answer, for logs and audit rows. */
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  /** Aborted when the client goes away before the answer is out. */
  readonly signal: AbortSignal;
  /** The `Idempotency-Key`, where the route takes one. */
  readonly idempotencyKey: string | undefined;
  /** Where the request has such a key: the handler keeps its answer in the transaction of its effect. */
  readonly idempotency?: Idempotency | undefined;
  /** SHA-256 of the JSON body's bytes as sent; undefined without one. */
  readonly bodyHash: Buffer | undefined;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

interface RouteReply {
  /** Starts as the route's declared status. */
  status: number;
  header(name: string, value: string): void;
}

export interface RouteContext<A extends Access, Params, Query, Body> {
  readonly deps: Deps;
  readonly principal: A extends PrincipalAccess ? Principal : undefined;
  /** The same principal with its request, for the commands that the handler calls. */
  readonly caller: A extends PrincipalAccess ? Caller : undefined;
  /** The subject of an operator's token. */
  readonly operator: A extends "operator" ? string : undefined;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly request: RouteRequest;
  readonly reply: RouteReply;
}

/** A media type that a route answers with besides, or instead of, JSON. */
interface OtherContent {
  readonly schema: z.ZodType;
  readonly description?: string;
}

export interface AuditRule {
  /** In the policy's words: `documents:read`. */
  readonly action: string;
  /** `document`: its id is the parameter `document_id`. */
  readonly resource: string;
  /** The field of the body that holds its id, where the path does not. */
  readonly idField?: string;
  /** False for a POST that only reads; GET always does. */
  readonly isChange?: boolean;
}

interface RouteContract<A extends Access> {
  readonly method: Method;
  /** Beneath `/v1`, e.g. `/data/:document_id`. */
  readonly path: `/${string}`;
  /** True for `/health` and the like, which stand outside `/v1`. */
  readonly isUnversioned?: boolean;
  /** False keeps it out of the OpenAPI document. */
  readonly isDocumented?: boolean;
  readonly access: A;
  /** What a key must have been given. */
  readonly capability?: Capability;
  /** The budget that a request is counted in; `chat` in that of requests too, `address` in that of requests which are refused, where nobody is known. */
  readonly budget?: "requests" | "chat" | "address";
  /** What the audit log is told: of reads and refusals by the route itself, of changes by the handler, in the change's transaction. */
  readonly audit?: AuditRule;
  /** The status of every failed authentication, where it is not 401. */
  readonly unauthenticatedStatus?: 403;
  readonly status: 200 | 201 | 202 | 204;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly [string, ...string[]];
  /** Statuses of failures beyond those that follow from the rest of the contract. */
  readonly errors?: readonly number[];
  /** Successful statuses beyond `status`, with their meaning. */
  readonly otherStatuses?: Readonly<Record<number, string>>;
  /** Takes an `Idempotency-Key`, and says what a repeat's caller must still reach. Where it is `turn` the handler itself sees to repeats. */
  readonly idempotent?: RepeatCheck | "turn";
  /** Optional request headers of its own, with their meaning. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers of the answer, with their meaning. */
  readonly replyHeaders?: Readonly<Record<string, string>>;
  /** What its JSON body may hold, where that is not {@link JSON_LIMITS}. */
  readonly bodyLimits?: JsonLimits;
  /** Its JSON body may hold secrets anywhere, and text that Postgres refuses: no 422 repeats what was sent, and such text is the handler's to pass over. */
  readonly hasSecretBody?: boolean;
  /** The fields of a multipart form, for the OpenAPI document; the handler streams and checks the form. */
  readonly multipart?: z.ZodObject;
  /** Media types other than JSON that it answers with. */
  readonly otherContent?: Readonly<Record<string, OtherContent>>;
}

/** An endpoint with its types forgotten, as the table of routes holds it. */
export interface Route extends RouteContract<Access> {
  /** The whole path, with `/v1`. */
  readonly fullPath: string;
  readonly params: z.ZodObject | undefined;
  readonly query: z.ZodObject | undefined;
  readonly body: z.ZodType | undefined;
  readonly response: z.ZodType | undefined;
  readonly requestsOf: ((body: unknown) => number) | undefined;
  handle(context: RouteContext<Access, unknown, unknown, unknown>): Promise<unknown>;
}

/** What a handler may answer: rows as the database gives them, which nobody may change; a list in the outermost object also in parts. */
type Presentable<T> = T extends Date
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Presentable<Item>[] | Parts<Presentable<Item>>
    : T extends object
      ? { readonly [Key in keyof T]: Presentable<T[Key]> }
      : T;

interface RouteDefinition<
  A extends Access,
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType,
> extends RouteContract<A> {
  readonly params?: P;
  readonly query?: Q;
  /** The JSON body; an optional schema makes the body optional. */
  readonly body?: B;
  readonly response?: R;
  /** How many requests one counts as in the budget `address`, where its body makes it more than one. */
  readonly requestsOf?: (body: z.output<B>) => number;
  /** Loads, authorizes, acts, presents. Answers the response's value, nothing for 204, or `raw(…)` or `stream(…)`. */
  handle(
    context: RouteContext<A, z.output<P>, z.output<Q>, z.output<B>>,
  ): Promise<Presentable<z.input<R>> | RawAnswer | StreamAnswer>;
}

type Nothing = z.ZodUndefined | z.ZodVoid;

/**
 * Describes one endpoint. Each request is authenticated, then parsed (all problems at once), then handled; the answer passes `response`,
 * which drops every key that it does not name.
 */
export function defineRoute<
  const A extends Access,
  P extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Q extends z.ZodObject = z.ZodObject<Record<never, never>>,
  B extends z.ZodType = z.ZodUndefined,
  R extends z.ZodType = Nothing,
>(definition: RouteDefinition<A, P, Q, B, R>): Route {
  const { params, query, body, response, isUnversioned = false } = definition;
  return {
    ...definition,
    fullPath: isUnversioned ? definition.path : `/v1${definition.path}`,
    params,
    query,
    body,
    response,
    requestsOf: definition.requestsOf as Route["requestsOf"],
    handle: (context) => definition.handle(context as never),
  };
}
