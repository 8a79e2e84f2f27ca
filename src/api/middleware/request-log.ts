/** Logs one line for each answer, with ids and times, but no bodies and query strings, which hold content. */
import type { Context, Middleware } from "koa";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { Log } from "../../process/log.ts";

const MAX_LOGGED_PATH = 256;

export function requestLog(log: Log): Middleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    ctx.res.once("close", () => write(ctx, log, performance.now() - startedAt));
    await next();
  };
}

function write(ctx: Context, log: Log, elapsedMs: number): void {
  const principal = ctx.state["principal"] as Principal | undefined;
  const isWhole = ctx.res.writableFinished;
  const fields = {
    request_id: ctx.state["requestId"] as string,
    method: ctx.method,
    path: ctx.path.slice(0, MAX_LOGGED_PATH),
    status: ctx.res.statusCode,
    ms: Math.round(elapsedMs * 10) / 10,
    ...(isWhole ? {} : { cut_off: true }),
    ...(principal === undefined
      ? {}
      : {
          organization_id: principal.organization.id,
          user_id: principal.user.id,
          api_key_id: principal.apiKeyId,
        }),
  };
  if (ctx.path.startsWith("/health")) log.debug(fields, "request");
  else log.info(fields, "request");
}
