/** Runs a route for a request: authenticates, parses with all problems at once, handles, and answers. */
import type { Context, Middleware } from "koa";
import { z } from "zod";
import type { Deps } from "./deps.ts";
import { authorizeKey } from "../auth/policy.ts";
import { DomainError } from "../domain/errors.ts";
import { isResourceKind, notFound } from "../domain/not-found.ts";
import { readTenant } from "../db/pool.ts";
import type { Principal } from "../domain/tenancy/principal.ts";
import { type Problem, valueError } from "../schema/requests/problem.ts";
import { answerOnce } from "./answer-once.ts";
import { auditedRequest, auditRead, auditRefusal, openedNoter } from "./audit-request.ts";
import { type JsonBody, readJsonBody } from "./body/json-body.ts";
import { noteKeyUse } from "./key-use.ts";
import type { RateLimit } from "./middleware/rate-limit.ts";
import type { ErrorAnswer } from "./errors/answer-error.ts";
import type { Route, RouteContext } from "./route.ts";
import { send } from "./send-answer.ts";
import { pointToQuery } from "./validation/suggestion.ts";
import { unknownFieldWarnings } from "./validation/unknown-fields.ts";
import { allValues, findUnusable, type Parsed, parsePart } from "./validation/validate.ts";

const KEY_REFUSED = "API key not accepted on this endpoint, use an identity-provider access token";
const MAX_IDEMPOTENCY_KEY = 255;

export function routeHandler(route: Route, deps: Deps, limit: RateLimit): Middleware {
  return async (ctx) => {
    ctx.state["route"] = route.fullPath;
    ctx.state["form"] = route.form;
    const { presentError } = route;
    if (presentError !== undefined)
      ctx.state["presentError"] = (answer: ErrorAnswer) => presentError(answer, deps.config);
    // Nothing of the body is read yet, so that a refused request costs no more than its head.
    const { principal, operator } = await admit(route, { deps, ctx, limit });
    let body: unknown;
    try {
      const context = await contextOf(route, { deps, ctx, limit, principal, operator });
      body = context.body;
      await countMore(route, { ctx, limit, principal, body });
      const answer = await answerOnce(route, context, (idempotency) =>
        route.handle({
          ...context,
          caller: { ...context.caller, keepAnswer: idempotency?.keepAnswer },
          request: { ...context.request, bindBody: idempotency?.bindBody },
        }),
      );
      await send(ctx, route, { answer, deps });
      auditRead(route, auditedRequest(ctx, { deps, principal, body }), ctx.state["hasOpened"] === true);
    } catch (error) {
      auditRefusal(route, auditedRequest(ctx, { deps, principal, body }), error);
      throw error;
    }
  };
}

interface Admitted {
  readonly principal: Principal | undefined;
  readonly operator: string | undefined;
}

interface Call extends Admitted {
  readonly deps: Deps;
  readonly ctx: Context;
  readonly limit: RateLimit;
}

interface Arrival {
  readonly deps: Deps;
  readonly ctx: Context;
  readonly limit: RateLimit;
}

/** Checks credentials and counts the request. @throws DomainError as the authenticator, `rate_limited` */
async function admit(route: Route, arrival: Arrival): Promise<Admitted> {
  const { deps, ctx, limit } = arrival;
  if (route.access === "public") {
    if (route.budget === "address") await limit.countRefusal(ctx);
    return { principal: undefined, operator: undefined };
  }
  if (route.access === "operator") {
    const operator = await countingRefusals(route, arrival, async () => {
      ctx.state["keyOwner"] = await noteKeyUse(ctx, deps);
      return deps.authenticator.authenticateOperator(ctx.headers.authorization);
    });
    await limit.countOperator(ctx, operator);
    return { principal: undefined, operator };
  }
  const principal = await countingRefusals(route, arrival, () => identify(route, arrival));
  await limit.countRequest(ctx, principal, kindOf(route), route.weight);
  return { principal, operator: undefined };
}

/** Counts what the body adds; the request itself was counted before its body was read. */
async function countMore(
  route: Route,
  { ctx, limit, principal, body }: Pick<Call, "ctx" | "limit" | "principal"> & { readonly body: unknown },
): Promise<void> {
  const more = (route.requestsOf?.(body) ?? 1) - 1;
  if (more <= 0) return;
  await (principal === undefined
    ? limit.countRefusal(ctx, more)
    : limit.countRequest(ctx, principal, kindOf(route), more));
}

const kindOf = ({ budget }: Route): "chat" | "requests" => (budget === "chat" ? "chat" : "requests");

async function identify(
  route: Route,
  { deps, ctx }: Pick<Arrival, "deps" | "ctx">,
  isFresh = false,
): Promise<Principal> {
  const { authorization, "x-organization-id": organizationId } = ctx.headers;
  const principal = await deps.authenticator.authenticate({
    authorization,
    organizationId: Array.isArray(organizationId) ? organizationId.at(-1) : organizationId,
    address: ctx.ip,
    isFresh,
    audience: route.tokenResource === undefined ? undefined : deps.config.api.publicUrl + route.tokenResource,
    onKnown: (owner) => {
      ctx.state["keyOwner"] = owner;
    },
  });
  ctx.state["principal"] = principal;
  deps.lastUsed.note(principal, { address: ctx.ip, userAgent: ctx.headers["user-agent"] });
  if (route.access === "jwt" && principal.authMethod === "api_key")
    throw new DomainError("login_required", KEY_REFUSED);
  if (route.capability !== undefined) authorizeKey(principal, route.capability);
  return principal;
}

async function countingRefusals<T>(
  route: Route,
  { deps, ctx, limit }: Arrival,
  check: () => Promise<T>,
): Promise<T> {
  try {
    return await check();
  } catch (error) {
    const principal = ctx.state["keyOwner"] as Principal | undefined;
    auditRefusal(route, auditedRequest(ctx, { deps, principal, body: undefined }), error);
    const isRefused = error instanceof DomainError && error.code === "unauthenticated";
    if (isRefused) await limit.countRefusal(ctx);
    throw isRefused && route.unauthenticatedStatus === 403
      ? new DomainError(error.reason, error.message, { status: 403 })
      : error;
  }
}

async function contextOf(
  route: Route,
  { deps, ctx, limit, principal, operator }: Call,
): Promise<RouteContext<"keys", unknown, unknown, unknown>> {
  const json: JsonBody =
    route.body === undefined
      ? { parsed: { value: undefined }, hash: undefined }
      : await readJsonBody(ctx, { limits: route.bodyLimits, isAnyText: route.hasSecretBody });
  const reply = replyOf(ctx, route);
  const sent = "value" in json.parsed ? json.parsed.value : undefined;
  // Before anything is refused: a field that is missing may be one of those that are not known.
  for (const warning of warningsOf(route, { ...ctx.query }, sent)) reply.header("Warning", warning);
  const path = readPart(route.params, ctx["params"] as unknown, "path");
  if (route.form === "openai" && "problems" in path) throw nothingThere(path.problems);
  const { params, query, body } = allValues({
    params: path,
    query: readPart(route.query, { ...ctx.query }, "query"),
    idempotencyKey: { problems: idempotencyKeyProblems(route, ctx) },
    body: readBody(route, json.parsed),
  });
  return {
    deps,
    principal: principal as Principal,
    caller: { principal: principal as Principal, requestId: ctx.state["requestId"] as string },
    operator: operator as undefined,
    read: (work) => readTenant(deps.db, (principal as Principal).organization, work),
    params,
    query,
    body,
    request: {
      id: ctx.state["requestId"] as string,
      headers: ctx.headers,
      signal: goneSignal(ctx),
      credentials: `${ctx.ip} ${ctx.get("x-organization-id")} ${ctx.get("authorization")}`,
      authenticateAgain: () => identify(route, { deps, ctx }, true),
      countTurn: () => limit.countTurn(ctx, principal as Principal),
      opened(content) {
        openedNoter(deps, principal, ctx.state["requestId"] as string)(content);
        if (content.type === "document") ctx.state["hasOpened"] = true;
      },
      idempotencyKey: route.idempotent !== undefined ? ctx.get("idempotency-key") || undefined : undefined,
      bodyHash: json.hash,
      req: ctx.req,
      res: ctx.res,
    },
    reply,
  };
}

/** To OpenAI's clients an id that is none is one that nothing has. */
function nothingThere([problem]: readonly Problem[]): DomainError {
  const kind = String(problem?.loc.at(-1)).replace(/^(?:file_(?=batch_))?(.*)_id$/, "$1");
  return isResourceKind(kind) ? notFound(kind) : new DomainError("not_found", "Not found");
}

function readBody(route: Route, parsed: Parsed): Parsed {
  const checked =
    route.body === undefined || "problems" in parsed ? parsed : parsePart(route.body, parsed.value, "body");
  if (!("problems" in checked)) return checked;
  const problems = pointToQuery(checked.problems, route.query);
  return {
    problems: route.hasSecretBody
      ? problems.map((problem) => ({ ...problem, input: "[redacted]" }))
      : problems,
  };
}

function readPart(schema: Route["params"], strings: unknown, part: "path" | "query"): Parsed {
  if (schema === undefined) return { value: {} };
  const problems = findUnusable(strings, part);
  return problems.length > 0 ? { problems } : parsePart(schema, strings, part);
}

function idempotencyKeyProblems(route: Route, ctx: Context): Problem[] {
  const key = ctx.get("idempotency-key");
  if (route.idempotent === undefined || key.length <= MAX_IDEMPOTENCY_KEY) return [];
  return [valueError(["header", "idempotency-key"], `must have at most ${MAX_IDEMPOTENCY_KEY} characters`)];
}

/** Aborted if the connection closes before the answer has been sent. */
function goneSignal(ctx: Context): AbortSignal {
  const gone = new AbortController();
  ctx.res.once("close", () => {
    if (!ctx.res.writableFinished) gone.abort();
  });
  // It closed while the caller was looked up.
  if (ctx.res.destroyed) gone.abort();
  return gone.signal;
}

function replyOf(ctx: Context, route: Route): RouteContext<"keys", unknown, unknown, unknown>["reply"] {
  ctx.status = route.status;
  return {
    get status() {
      return ctx.status;
    },
    set status(status: number) {
      ctx.status = status;
    },
    header: (name, value) => (name === "Warning" ? ctx.append(name, value) : ctx.set(name, value)),
  };
}

/** Names what the contract does not know in the query and the JSON body. */
function warningsOf({ query, body, ignoresUnknown = false }: Route, sentQuery: unknown, sentBody: unknown) {
  if (ignoresUnknown) return [];
  return [
    ...unknownFieldWarnings(query ?? NO_FIELDS, sentQuery),
    ...(body === undefined ? [] : unknownFieldWarnings(body, sentBody)),
  ];
}

const NO_FIELDS = z.object({});
