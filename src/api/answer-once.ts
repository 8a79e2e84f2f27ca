/** Makes repeats of a request with one Idempotency-Key a single effect with a single answer. */
import { PAUSES } from "#timings";
import { callerIdOf } from "../domain/tenancy/ownership.ts";
import { createHash, randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type IdempotencyKey,
  type KeptAnswer,
  claimKey,
  keepAnswer,
  releaseKey,
  renewKey,
} from "../db/instance/idempotency.ts";
import { type Sql, inTenant } from "../db/pool.ts";
import { DomainError } from "../domain/errors.ts";
import { ValidationProblems, valueError } from "../schema/requests/problem.ts";
import { type ReceivedUpload, receiveUpload } from "./body/uploads.ts";
import { errorGuide } from "./errors/error-body.ts";
import { answerError } from "./errors/answer-error.ts";
import { type Idempotency, type Repeat, type RepeatCheck, formHash } from "./idempotency.ts";
import { type RawAnswer, raw } from "./response.ts";
import type { Route, RouteContext } from "./route.ts";

/** A repeat waits no longer than this for the request before it. */
const MAX_WAIT_MS = 60_000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;
/** Refusals that are kept: a repeat would be refused in the same way, whatever happens meanwhile. */
const KEPT_REFUSALS: ReadonlySet<number> = new Set([400, 422]);

type Context = RouteContext<"keys", unknown, unknown, unknown>;

interface KeyedRequest {
  readonly route: Route;
  readonly check: RepeatCheck;
  readonly context: Context;
  readonly key: IdempotencyKey;
  /** Random: shows that the lease of the key is this request's. */
  readonly token: string;
  /** Covers the path's parameters and the body; null until a form is read. */
  bodyHash: Buffer | null;
}

/**
 * Runs `work`, or answers as an earlier request with the same key of the same caller on the same route was
 * answered. Repeats that overlap wait, at most a minute; one whose first request died takes over. An outage
 * keeps nothing.
 * @throws ValidationProblems if the key came with another request before; DomainError `overloaded` if the
 *   first takes too long.
 * @see https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header
 */
export async function answerOnce(
  route: Route,
  context: Context,
  work: (idempotency: Idempotency | undefined) => Promise<unknown>,
): Promise<unknown> {
  const { principal, request } = context;
  const { idempotent: check } = route;
  if (request.idempotencyKey === undefined || typeof check !== "function") return work(undefined);
  const key = {
    organizationId: principal.organization.id,
    callerId: callerIdOf(principal),
    route: `${route.method} ${route.fullPath}`,
    key: request.idempotencyKey,
  };
  const isForm = route.multipart !== undefined;
  const bodyHash = isForm ? null : requestHash(context, request.bodyHash ?? Buffer.alloc(0));
  const keyed: KeyedRequest = { route, check, context, key, token: randomUUID(), bodyHash };
  const kept = await takeKey(keyed);
  return kept === undefined ? runWithKey(keyed, work) : answerRepeat(keyed, kept);
}

/** Takes the key, and waits while another request has it. @returns the kept answer under it, if any. */
async function takeKey({ context, key, token, bodyHash }: KeyedRequest): Promise<KeptAnswer | undefined> {
  const { db } = context.deps;
  const giveUpAt = Date.now() + MAX_WAIT_MS;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)) {
    const state = await claimKey(db.system, key, token, bodyHash);
    if (state.is === "claimed") return undefined;
    if (state.is === "kept") return state.answer;
    if (bodyHash !== null && state.bodyHash !== null && !bodyHash.equals(state.bodyHash)) throw differs();
    if (Date.now() > giveUpAt)
      throw new DomainError(
        "request_under_way",
        "A request with this Idempotency-Key is still in progress.",
        {
          retryAfterSeconds: 5,
        },
      );
    await sleep(pause, undefined, { signal: context.request.signal });
  }
}

async function runWithKey(
  keyed: KeyedRequest,
  work: (idempotency: Idempotency) => Promise<unknown>,
): Promise<unknown> {
  const { context, route } = keyed;
  const renewing = renewLease(keyed);
  let isKept = false;
  const keep = async (sql: Sql, answer: unknown): Promise<void> => {
    await keepOrGiveUp(sql, keyed, context.reply.status, route.response?.parse(answer) ?? null);
    isKept = true;
  };
  const bindBody = (hash: Buffer): void => {
    keyed.bodyHash = requestHash(context, hash);
  };
  try {
    const answer = await work({ keepAnswer: keep, bindBody });
    if (!isKept) await inTenant(context.deps.db, context.principal.organization, (sql) => keep(sql, answer));
    return answer;
  } catch (error) {
    await settleFailure(keyed, error);
    throw error;
  } finally {
    clearInterval(renewing);
  }
}

function renewLease({ context, key, token }: KeyedRequest): NodeJS.Timeout {
  const { db, log } = context.deps;
  return setInterval(() => {
    renewKey(db.system, key, token).catch((error: unknown) =>
      log.warn(
        { err: error, request_id: context.request.id },
        "the lease of an Idempotency-Key was not renewed",
      ),
    );
  }, PAUSES.requestLease);
}

async function keepOrGiveUp(
  sql: Sql,
  { key, token, bodyHash }: KeyedRequest,
  status: number,
  body: unknown,
): Promise<void> {
  const isMine = await keepAnswer(sql, key, token, {
    status,
    response: JSON.stringify(body),
    bodyHash: bodyHash ?? Buffer.alloc(0),
  });
  if (!isMine)
    throw new DomainError("request_under_way", "Another request with this Idempotency-Key took over.", {
      retryAfterSeconds: 1,
    });
}

/** Keeps a refusal or releases the key. If that fails, the key stays taken until its lease runs out. */
async function settleFailure(keyed: KeyedRequest, error: unknown): Promise<void> {
  const { context, key, token, bodyHash } = keyed;
  const { config, db, log } = context.deps;
  const { status, body } = answerError(error, errorGuide(config.api.publicUrl), keyed.route.form);
  try {
    if (bodyHash !== null && KEPT_REFUSALS.has(status))
      await inTenant(db, context.principal.organization, (sql) => keepOrGiveUp(sql, keyed, status, body));
    else await releaseKey(db.system, key, token);
  } catch (settleError) {
    log.warn(
      { err: settleError, request_id: context.request.id },
      "an Idempotency-Key could not be released; its lease will expire",
    );
  }
}

async function answerRepeat(
  { route, check, context, bodyHash }: KeyedRequest,
  kept: KeptAnswer,
): Promise<RawAnswer> {
  const { deps, principal, request } = context;
  const form =
    bodyHash === null
      ? await readRepeatedForm(request.req, deps.config.limits.maxUploadBytes, request.signal)
      : null;
  const hash = form === null ? bodyHash : requestHash(context, formHash(form));
  if (hash === null || !hash.equals(kept.bodyHash)) throw differs();
  const isRefusal = kept.status >= 400;
  await check({
    deps,
    principal,
    params: context.params as Repeat["params"],
    fields: form?.fields ?? {},
    answer: isRefusal ? null : (JSON.parse(kept.response) as Repeat["answer"]),
  });
  const hasBody = route.response !== undefined || isRefusal;
  return raw({
    contentType: "application/json; charset=utf-8",
    status: kept.status,
    body: hasBody ? kept.response : null,
  });
}

/** Reads a repeated form to its end and stores nothing of it. */
async function readRepeatedForm(
  req: IncomingMessage,
  maxBytes: number,
  signal: AbortSignal,
): Promise<ReceivedUpload<{ readonly sha256: string }>> {
  return receiveUpload(req, {
    maxBytes,
    signal,
    onFile: async ({ stream }) => {
      const hash = createHash("sha256");
      for await (const piece of stream) hash.update(piece as Buffer);
      return { sha256: hash.digest("hex") };
    },
  });
}

function requestHash({ params }: Context, body: Buffer): Buffer {
  return createHash("sha256").update(JSON.stringify(params)).update(body).digest();
}

function differs(): ValidationProblems {
  return new ValidationProblems([
    valueError(["header", "idempotency-key"], "the key was used with another request before"),
  ]);
}
