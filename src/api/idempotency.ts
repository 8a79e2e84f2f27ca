/** Makes repeats of a request with one Idempotency-Key a single effect with a single answer, for callers who may still see it. */
import { createHash, randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type IdempotencyKey,
  type KeptAnswer,
  RENEW_LEASE_MS,
  claimKey,
  keepAnswer,
  releaseKey,
  renewKey,
} from "../db/instance/idempotency.ts";
import { type Sql, inTenant } from "../db/pool.ts";
import type { Deps } from "../deps.ts";
import { DomainError } from "../domain/errors.ts";
import type { Principal } from "../domain/tenancy/principal.ts";
import { ValidationProblems, valueError } from "../schema/requests/problem.ts";
import { answerError } from "./errors.ts";
import { type RawAnswer, raw } from "./response.ts";
import type { Route, RouteContext } from "./route.ts";
import { type ReceivedUpload, receiveUpload } from "./body/uploads.ts";

/** What a handler is given where its request has an Idempotency-Key. */
export interface Idempotency {
  /**
   * Keeps the handler's answer in the transaction of its effect, so that a repeat gets it even where this process dies now.
   * @throws DomainError `overloaded` where another request took the key over meanwhile; the transaction must end with it.
   */
  readonly keep: (sql: Sql, answer: unknown) => Promise<void>;
  /** Says what was in a form, once it is whole. */
  bindBody(hash: Buffer): void;
}

/** A repeat of a request that was answered before. */
export interface Repeat {
  readonly deps: Deps;
  /** Who asks now, with the rights of now. */
  readonly principal: Principal;
  /** Of the path, as the route has checked them. */
  readonly params: Readonly<Record<string, string>>;
  /** Of a form; empty for JSON. */
  readonly fields: Readonly<Record<string, string>>;
  /** What the kept answer names, by its fields; null where it was a refusal. */
  readonly answer: Readonly<Record<string, unknown>> | null;
}

/**
 * Whether the caller may see the kept answer today. It was made with the rights of its time, and a role, a space, a document or the
 * scope of a key may be gone since.
 * @throws DomainError `not_found` and `permission_denied`, as the policy says of the same request made now.
 */
export type RepeatCheck = (repeat: Repeat) => Promise<void>;

/** A repeat waits no longer than this for the request before it. */
const MAX_WAIT_MS = 60_000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;
/** A repeat would be refused in the same way, whatever happens meanwhile. */
const KEPT_REFUSALS: ReadonlySet<number> = new Set([400, 422]);

type Context = RouteContext<"keys", unknown, unknown, unknown>;

interface Attempt {
  readonly route: Route;
  readonly check: RepeatCheck;
  readonly context: Context;
  readonly key: IdempotencyKey;
  readonly token: string;
  /** Of the path's parameters and the body; null until a form is whole. */
  bodyHash: Buffer | null;
}

/**
 * Runs `work`, or answers with what it answered to an earlier request with the same key of the same caller on the same route.
 * Repeats that overlap wait; one whose first request died takes over. An outage keeps nothing.
 * @throws ValidationProblems where the key came with another request before; DomainError `overloaded` where the first works for too long.
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
    callerId: principal.apiKeyId ?? principal.user.id,
    route: `${route.method} ${route.fullPath}`,
    key: request.idempotencyKey,
  };
  const bodyHash =
    route.multipart === undefined ? requestHash(context, request.bodyHash ?? Buffer.alloc(0)) : null;
  const attempt: Attempt = { route, check, context, key, token: randomUUID(), bodyHash };
  const kept = await takeKey(attempt);
  return kept === undefined ? runUnder(attempt, work) : replay(attempt, kept);
}

/** Takes the key, however long another request has it. @returns the answer that was kept under it, where there is one. */
async function takeKey({ context, key, token, bodyHash }: Attempt): Promise<KeptAnswer | undefined> {
  const { db } = context.deps;
  const giveUpAt = Date.now() + MAX_WAIT_MS;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)) {
    const standing = await claimKey(db.system, key, token, bodyHash);
    if (standing.is === "claimed") return undefined;
    if (standing.is === "kept") return standing.answer;
    if (bodyHash !== null && standing.bodyHash !== null && !bodyHash.equals(standing.bodyHash))
      throw differs();
    if (Date.now() > giveUpAt)
      throw new DomainError("overloaded", "A request with this Idempotency-Key is still under way.", {
        retryAfterSeconds: 5,
      });
    await sleep(pause, undefined, { signal: context.request.signal });
  }
}

async function runUnder(
  attempt: Attempt,
  work: (idempotency: Idempotency) => Promise<unknown>,
): Promise<unknown> {
  const { context, key, token } = attempt;
  const { db, log } = context.deps;
  const renewing = setInterval(() => {
    renewKey(db.system, key, token).catch((error: unknown) =>
      log.warn(
        { err: error, request_id: context.request.id },
        "the lease of an Idempotency-Key was not renewed",
      ),
    );
  }, RENEW_LEASE_MS);
  let isKept = false;
  const keep = async (sql: Sql, answer: unknown): Promise<void> => {
    await keepOrGiveUp(sql, attempt, context.reply.status, attempt.route.response?.parse(answer) ?? null);
    isKept = true;
  };
  try {
    const answer = await work({
      keep,
      bindBody: (hash) => void (attempt.bodyHash = requestHash(context, hash)),
    });
    if (!isKept) await inTenant(db, context.principal.organization, (sql) => keep(sql, answer));
    return answer;
  } catch (error) {
    await settleFailure(attempt, error);
    throw error;
  } finally {
    clearInterval(renewing);
  }
}

async function keepOrGiveUp(
  sql: Sql,
  { key, token, bodyHash }: Attempt,
  status: number,
  body: unknown,
): Promise<void> {
  const isMine = await keepAnswer(sql, key, token, {
    status,
    response: JSON.stringify(body),
    bodyHash: bodyHash ?? Buffer.alloc(0),
  });
  if (!isMine)
    throw new DomainError("overloaded", "Another request with this Idempotency-Key took over.", {
      retryAfterSeconds: 1,
    });
}

/** A failure here leaves the key to the end of its lease. */
async function settleFailure(attempt: Attempt, error: unknown): Promise<void> {
  const { context, key, token, bodyHash } = attempt;
  const { db, log } = context.deps;
  const { status, body } = answerError(error);
  try {
    if (bodyHash !== null && KEPT_REFUSALS.has(status))
      await inTenant(db, context.principal.organization, (sql) => keepOrGiveUp(sql, attempt, status, body));
    else await releaseKey(db.system, key, token);
  } catch (settleError) {
    log.warn(
      { err: settleError, request_id: context.request.id },
      "an Idempotency-Key is left to the end of its lease",
    );
  }
}

async function replay({ route, check, context, bodyHash }: Attempt, kept: KeptAnswer): Promise<RawAnswer> {
  const { deps, principal } = context;
  const form =
    bodyHash === null
      ? await readRepeatedForm(context.request.req, deps.config.limits.maxUploadBytes, context.request.signal)
      : null;
  const hash = form === null ? bodyHash : requestHash(context, formHash(form));
  if (hash === null || !hash.equals(kept.bodyHash)) throw differs();
  const answer = kept.status >= 400 ? null : (JSON.parse(kept.response) as Repeat["answer"]);
  await check({
    deps,
    principal,
    params: context.params as Repeat["params"],
    fields: form?.fields ?? {},
    answer,
  });
  const hasBody = route.response !== undefined || kept.status >= 400;
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

/** What was sent in a form: its fields, the file's name and content. */
export function formHash({ fields, file }: ReceivedUpload<{ readonly sha256: string }>): Buffer {
  const sorted = Object.entries(fields).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([sorted, file === null ? null : [file.filename, file.value.sha256]]))
    .digest();
}

function requestHash({ params }: Context, body: Buffer): Buffer {
  return createHash("sha256").update(JSON.stringify(params)).update(body).digest();
}

function differs(): ValidationProblems {
  return new ValidationProblems([
    valueError(["header", "idempotency-key"], "the key was used with another request before"),
  ]);
}
