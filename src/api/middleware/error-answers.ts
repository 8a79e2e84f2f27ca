/** Turns every error into an answer, and logs unexpected ones with the request's id. */
import type { IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Context, Middleware } from "koa";
import type { Log } from "../../process/log.ts";
import { answerError, type ErrorAnswer, type ErrorForm } from "../errors/answer-error.ts";

/** A client that is still sending reads an early answer only if its bytes are accepted for a while. */
const DRAIN_MS = 2_000;
const SHORT_BODY_BYTES = 65_536;

/** @param guide where the page of each error code is */
export function errorAnswers(log: Log, guide: string): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      await answer(ctx, error, { log, guide });
    }
  };
}

async function answer(
  ctx: Context,
  error: unknown,
  { log, guide }: { readonly log: Log; readonly guide: string },
): Promise<void> {
  const usual = answerError(error, guide, ctx.state["form"] as ErrorForm | undefined);
  const present = ctx.state["presentError"] as ((answer: ErrorAnswer) => ErrorAnswer) | undefined;
  const { status, body, headers, isUnexpected } = present?.(usual) ?? usual;
  const fields = { request_id: ctx.state["requestId"] as string, status };
  if (isGone(ctx) && isAbort(error))
    log.debug({ request_id: fields.request_id }, "a client disconnected before its response");
  else if (isUnexpected && !isGone(ctx))
    log.error({ ...fields, err: error }, "a request failed unexpectedly");
  else if (status >= 500) log.warn({ ...fields, err: error }, "a request could not be served");
  if (ctx.res.headersSent) {
    ctx.respond = false;
    ctx.res.destroy();
    return;
  }
  for (const name of ["Content-Type", "Content-Length", "Content-Disposition", "ETag", "Content-Range"])
    ctx.remove(name);
  ctx.status = status;
  ctx.set(headers);
  ctx.body = body;
  if (isShort(ctx)) await drained(ctx.req);
  if (!ctx.req.complete) await endAfterDraining(ctx, JSON.stringify(body));
}

/** A short body is read to its end, so that the connection can be used again. */
function isShort(ctx: Context): boolean {
  return !ctx.req.complete && Number(ctx.get("content-length") || Infinity) <= SHORT_BODY_BYTES;
}

function isGone(ctx: Context): boolean {
  return ctx.req.socket.destroyed;
}

/** What work throws that the request's signal interrupted. */
const isAbort = (error: unknown): boolean => error instanceof Error && error.name === "AbortError";

/** Sends the whole answer at once, but closes only after the client has, or after {@link DRAIN_MS}. */
async function endAfterDraining(ctx: Context, text: string): Promise<void> {
  ctx.respond = false;
  ctx.set("Connection", "close");
  ctx.type = "application/json";
  ctx.length = Buffer.byteLength(text);
  ctx.res.writeHead(ctx.status);
  if (ctx.method !== "HEAD") ctx.res.write(text);
  await drained(ctx.req);
  ctx.res.end();
}

async function drained(req: IncomingMessage): Promise<void> {
  const stop = new AbortController();
  const ended = new Promise<void>((resolve) => {
    req
      .once("end", resolve)
      .once("close", resolve)
      .once("error", () => resolve());
  });
  req.unpipe();
  req.resume();
  await Promise.race([ended, delay(DRAIN_MS, undefined, { signal: stop.signal })]);
  stop.abort();
}
