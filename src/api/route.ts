/** Defines endpoints: types, checks, OpenAPI and the contract test follow from `defineRoute`. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { z } from "zod";
import type { Caller } from "../commands/caller.ts";
import type { Sql } from "../db/sql.ts";
import type { Deps } from "./deps.ts";
import type { NoteOpened } from "../domain/tenancy/opened-content.ts";
import { type PathParameters, pathParameters } from "../schema/path-parameters.ts";
import type { Capability, Principal } from "../domain/tenancy/principal.ts";
import type { ErrorAnswer, ErrorForm } from "./errors/answer-error.ts";
import type { Idempotency, RepeatCheck } from "./idempotency.ts";
import type { Parts } from "./json-answer.ts";
import type { JsonLimits } from "./body/json-limits.ts";
import type { RawAnswer, StreamAnswer } from "./response.ts";

/**
 * Who may call: `keys` holders of API keys and of access tokens, `jwt` holders of access tokens, `operator`
 * operators, who need not belong to an organization, `public` everybody.
 */
export type Access = "keys" | "jwt" | "operator" | "public";
/** The kinds of access with a principal. */
type PrincipalAccess = "keys" | "jwt";
type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface RouteRequest {
  /** The `X-Request-Id` of the answer, which logs and audit rows repeat. */
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  /** Aborted if the client goes away before it has the answer. */
  readonly signal: AbortSignal;
  /** Who asks, as a text that only requests with the same credentials and address share; a secret. */
  readonly credentials: string;
  /**
   * Looks the caller up again, past all caches, for answers that take long.
   * @throws as at the beginning of the request, if the caller has lost the right to it meanwhile.
   */
  readonly authenticateAgain: () => Promise<Principal>;
  /** Counts the request as a chat turn too, for routes that learn late. @throws DomainError `rate_limited` */
  readonly countTurn: () => Promise<void>;
  /** Audits what the request opens by an id: whole content, or without a space what is known about it. */
  readonly opened: NoteOpened;
  /** The `Idempotency-Key`, if the route takes one. */
  readonly idempotencyKey: string | undefined;
  /** Set if the request has such a key: says what was sent in the form once it has been read. */
  readonly bindBody?: Idempotency["bindBody"] | undefined;
  /** SHA-256 of the JSON body's bytes as sent; undefined without a body. */
  readonly bodyHash: Buffer | undefined;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

interface RouteReply {
  /** Default: the status of the route's contract. */
  status: number;
  header(name: string, value: string): void;
}

type Read = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;

export interface RouteContext<A extends Access, Params, Query, Body> {
  readonly deps: Deps;
  readonly principal: A extends PrincipalAccess ? Principal : undefined;
  /** The principal with the id of its request, for commands. */
  readonly caller: A extends PrincipalAccess ? Caller : undefined;
  /** The subject of an operator's token. */
  readonly operator: A extends "operator" ? string : undefined;
  /** `readTenant` in the principal's organization. */
  readonly read: A extends PrincipalAccess ? Read : undefined;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly request: RouteRequest;
  readonly reply: RouteReply;
}

/** A media type of an answer that is not JSON. */
interface OtherContent {
  readonly schema: z.ZodType;
  readonly description?: string;
}

export interface AuditRule {
  /** An action of the policy, such as `documents:read`. */
  readonly action: string;
  /** A kind of resource, such as `document`, whose id is the parameter `document_id`. */
  readonly resource: string;
  /** The parameter with its id, if it has another name than that. */
  readonly param?: string;
  /** The field of the body with its id, if the path has none. */
  readonly idField?: string;
  /** A field of the body with several ids, each of which gets a row. */
  readonly idsField?: string;
  /** The ids of a body that has them deeper, each of which gets a row. */
  readonly idsOf?: (body: unknown) => readonly string[];
  /** Default: true for all methods but GET. Set it to false for a POST that reads. */
  readonly isChange?: boolean;
}

interface RouteContract<A extends Access> {
  /** Its name in the OpenAPI document, which clients make calls and tags of: `documents.upload`. */
  readonly operation?: string;
  /** True for paths without `/v1`, such as `/health`. */
  readonly isUnversioned?: boolean;
  /** False keeps it out of the OpenAPI document. */
  readonly isDocumented?: boolean;
  readonly access: A;
  /** The capability that a key needs. */
  readonly capability?: Capability;
  /**
   * The rate limit that counts the request. `chat` requests count as `requests` too; `address` is the limit
   * of refused requests, for public routes. Default: `requests`.
   */
  readonly budget?: "requests" | "chat" | "address";
  /** As how many requests of the caller one counts. Default 1. */
  readonly weight?: number;
  /** What the audit log gets. The route records reads and refusals; the command records its changes. */
  readonly audit?: AuditRule;
  /** The path that access tokens must name as their audience. Default: that of the API. */
  readonly tokenResource?: `/${string}`;
  /** Gives its error answers another form. */
  readonly presentError?: (answer: ErrorAnswer, config: Deps["config"]) => ErrorAnswer;
  /** The status of a failed authentication. Default 401. */
  readonly unauthenticatedStatus?: 403;
  /** Of a successful answer. Default 200. */
  readonly status?: 200 | 201 | 202 | 204;
  readonly summary: string;
  readonly description?: string;
  /**
   * Whose clients it is for. With `openai` a request that fails its checks is 400, and an id on the path that
   * is none is 404, so that their libraries raise what they raise against OpenAI. Default `holdfast`: 422.
   */
  readonly form?: ErrorForm;
  /** Error statuses that do not follow from the rest of the contract. */
  readonly errors?: readonly number[];
  /** What an error status means here and what its body is, where that differs from other routes. */
  readonly ownErrors?: Readonly<Record<number, { readonly schema: z.ZodType; readonly description: string }>>;
  /** Other successful statuses, with their meaning. */
  readonly otherStatuses?: Readonly<Record<number, string>>;
  /**
   * Set if the route takes an `Idempotency-Key`: checks the caller of a repeat. With `turn` the handler
   * itself answers repeats.
   */
  readonly idempotent?: RepeatCheck | "turn";
  /** Optional request headers, with their meaning. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers of the answer, with their meaning. */
  readonly replyHeaders?: Readonly<Record<string, string>>;
  /** The limits of the JSON body. Default `JSON_LIMITS` of body/json-limits.ts. */
  readonly bodyLimits?: JsonLimits;
  /**
   * The JSON body may hold secrets anywhere, and text that Postgres refuses: no 422 repeats the input, and
   * the handler must cope with such text.
   */
  readonly hasSecretBody?: boolean;
  /** Unknown fields of the body are passed over without a word, as the specification says. */
  readonly ignoresUnknown?: boolean;
  /** The fields of a multipart form, for the OpenAPI document. The handler reads and checks the form. */
  readonly multipart?: z.ZodObject;
  /** Media types other than JSON that it answers with. */
  readonly otherContent?: Readonly<Record<string, OtherContent>>;
}

/** An endpoint without its types, as the table of routes holds it. */
export interface Route<R extends z.ZodType = z.ZodType> extends RouteContract<Access> {
  readonly method: Method;
  /** The path after `/v1`, such as `/data/:document_id`. */
  readonly path: string;
  readonly status: NonNullable<RouteContract<Access>["status"]>;
  /** The whole path, with `/v1`. */
  readonly fullPath: string;
  readonly params: z.ZodObject | undefined;
  readonly query: z.ZodObject | undefined;
  readonly body: z.ZodType | undefined;
  readonly response: R | undefined;
  readonly requestsOf: ((body: unknown) => number) | undefined;
  handle(context: RouteContext<Access, unknown, unknown, unknown>): Promise<unknown>;
}

/** What a handler may return for `T`: readonly rows too, and lists of the outermost object in parts. */
export type Presentable<T> = T extends Date
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
  /** Default: what the path's names stand for in every path. */
  readonly params?: P;
  readonly query?: Q;
  /** The JSON body; an optional schema makes the body optional. */
  readonly body?: B;
  readonly response?: R;
  /** As how many requests one counts, in the budget of its caller or else of its address. Default 1. */
  readonly requestsOf?: (body: z.output<B>) => number;
  /** Calls a command or reads, and presents. Returns the value, nothing for 204, `raw(…)` or `stream(…)`. */
  handle(
    context: RouteContext<A, z.output<P>, z.output<Q>, z.output<B>>,
  ): Promise<Presentable<z.input<R>> | RawAnswer | StreamAnswer>;
}

type Nothing = z.ZodUndefined | z.ZodVoid;

/**
 * Defines one endpoint by its method and its path after `/v1`. Each request is authenticated, then parsed
 * with all problems at once, then handled. The answer passes `response`, which drops every key that it does
 * not name.
 * @example
 * export const getThing = defineRoute("GET /spaces/:space_id/things", {
 *   access: "keys",
 *   summary: "The things of a space.",
 *   response: Things,
 *   handle: ({ params, deps, principal }) => readThings(deps, principal, params.space_id),
 * });
 * @see test/api/app.test.ts
 */
export function defineRoute<
  const A extends Access,
  const Endpoint extends `${Method} /${string}`,
  P extends z.ZodObject = PathParameters<Endpoint>,
  Q extends z.ZodObject = z.ZodObject<Record<never, never>>,
  B extends z.ZodType = z.ZodUndefined,
  R extends z.ZodType = Nothing,
>(endpoint: Endpoint, definition: RouteDefinition<A, P, Q, B, R>): Route<R> {
  const [method, path] = endpoint.split(" ") as [Method, string];
  const { params = pathParameters(path), query, body, response, isUnversioned = false } = definition;
  return {
    ...definition,
    method,
    path,
    status: definition.status ?? 200,
    fullPath: isUnversioned ? path : `/v1${path}`,
    params,
    query,
    body,
    response,
    requestsOf: definition.requestsOf as Route["requestsOf"],
    handle: (context) => definition.handle(context as RouteContext<A, z.output<P>, z.output<Q>, z.output<B>>),
  };
}
