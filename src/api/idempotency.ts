/** The only place that makes repeats of a request with one Idempotency-Key a single effect with a single answer. */
import { createHash, randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type IdempotencyKey, type KeptAnswer, RENEW_LEASE_MS, claimKey, keepAnswer, releaseKey, renewKey } from "../db/idempotency.ts";
import { type Sql, inTenant } from "../db/pool.ts";
import { DomainError } from "../domain/errors.ts";
import { ValidationProblems, valueError } from "../schema/problem.ts";
import { answerError } from "./errors.ts";
import { type RawAnswer, raw } from "./response.ts";
import type { Route, RouteContext } from "./route.ts";
import { type ReceivedUpload, receiveUpload } from "./uploads.ts";

/** What a handler is given where its request has an Idempotency-Key. */
export interface Idempotency {
  /**
   * Keeps the handler's answer in the transaction of its effect, so that a repeat gets it even where this process dies now.
   * @throws DomainError `overloaded` where another request took the key over meanwhile; the transaction must end with it.
   */
  keep(sql: Sql, answer: unknown): Promise<void>;
  /** Says what was in a form, once it is whole. */
  bindBody(hash: Buffer): void;
}

/** A repeat waits no longer than this for the request before it. */
const MAX_WAIT_MS = 60_000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;
/** A repeat would be refused in the same way, whatever happens meanwhile. */
const KEPT_REFUSALS: ReadonlySet<number> = new Set([400, 422]);

type Context = RouteContext<"keys", unknown, unknown, unknown>;

interface Attempt {
  readonly route: Route;
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
export async function answerOnce(route: Route, context: Context, work: (idempotency: Idempotency | undefined) => Promise<unknown>): Promise<unknown> {
  const { principal, request } = context;
  if (request.idempotencyKey === undefined || route.idempotent !== true) return work(undefined);
  const key = {
    organizationId: principal.organization.id,
    callerId: principal.apiKeyId ?? principal.user.id,
    route: `${route.method} ${route.fullPath}`,
    key: request.idempotencyKey,
  };
  const bodyHash = route.multipart === undefined ? requestHash(context, request.bodyHash ?? Buffer.alloc(0)) : null;
  const attempt: Attempt = { route, context, key, token: randomUUID(), bodyHash };
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
    if (bodyHash !== null && standing.bodyHash !== null && !bodyHash.equals(standing.bodyHash)) throw differs();
    if (Date.now() > giveUpAt) throw new DomainError("overloaded", "A request with this Idempotency-Key is still under way.", { retryAfterSeconds: 5 });
    await sleep(pause, undefined, { signal: context.request.signal });
  }
}

async function runUnder(attempt: Attempt, work: (idempotency: Idempotency) => Promise<unknown>): Promise<unknown> {
  const { context, key, token } = attempt;
  const { db, log } = context.deps;
  const renewing = setInterval(() => {
    renewKey(db.system, key, token).catch((error: unknown) => log.warn({ err: error, request_id: context.request.id }, "the lease of an Idempotency-Key was not renewed"));
  }, RENEW_LEASE_MS);
  let isKept = false;
  const keep = async (sql: Sql, answer: unknown): Promise<void> => {
    await keepOrGiveUp(sql, attempt, context.reply.status, attempt.route.response?.parse(answer) ?? null);
    isKept = true;
  };
  try {
    const answer = await work({ keep, bindBody: (hash) => void (attempt.bodyHash = requestHash(context, hash)) });
    if (!isKept) await inTenant(db, context.principal.organization, (sql) => keep(sql, answer));
    return answer;
  } catch (error) {
    await settleFailure(attempt, error);
    throw error;
  } finally {
    clearInterval(renewing);
  }
}

async function keepOrGiveUp(sql: Sql, { key, token, bodyHash }: Attempt, status: number, body: unknown): Promise<void> {
  const isMine = await keepAnswer(sql, key, token, { status, response: JSON.stringify(body), bodyHash: bodyHash ?? Buffer.alloc(0) });
  if (!isMine) throw new DomainError("overloaded", "Another request with this Idempotency-Key took over.", { retryAfterSeconds: 1 });
}

/** A failure here leaves the key to the end of its lease. */
async function settleFailure(attempt: Attempt, error: unknown): Promise<void> {
  const { context, key, token, bodyHash } = attempt;
  const { db, log } = context.deps;
  const { status, body } = answerError(error);
  try {
    if (bodyHash !== null && KEPT_REFUSALS.has(status)) await inTenant(db, context.principal.organization, (sql) => keepOrGiveUp(sql, attempt, status, body));
    else await releaseKey(db.system, key, token);
  } catch (settleError) {
    log.warn({ err: settleError, request_id: context.request.id }, "an Idempotency-Key is left to the end of its lease");
  }
}

async function replay({ route, context, bodyHash }: Attempt, kept: KeptAnswer): Promise<RawAnswer> {
  const hash = bodyHash ?? requestHash(context, await hashForm(context.request.req, context.deps.config.limits.maxUploadBytes, context.request.signal));
  if (!hash.equals(kept.bodyHash)) throw differs();
  const hasBody = route.response !== undefined || kept.status >= 400;
  return raw({ contentType: "application/json; charset=utf-8", status: kept.status, body: hasBody ? kept.response : null });
}

/** Reads a repeated form to its end and stores nothing of it. */
async function hashForm(req: IncomingMessage, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
  const upload = await receiveUpload(req, {
    maxBytes,
    signal,
    onFile: async ({ stream }) => {
      const hash = createHash("sha256");
      for await (const piece of stream) hash.update(piece as Buffer);
      return { sha256: hash.digest("hex") };
    },
  });
  return formHash(upload);
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
  return new ValidationProblems([valueError(["header", "idempotency-key"], "the key was used with another request before")]);
}
