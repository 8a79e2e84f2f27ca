/** Lets pages of the origins that CORS_ORIGINS names call the API; by default no other origin may. */
import type { Middleware } from "koa";

const ALLOWED_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
/** Temporal's Web UI sends X-Namespace, and Authorization-Extras with the user's id token. */
const ALLOWED_HEADERS =
  "Authorization, Authorization-Extras, Content-Type, Idempotency-Key, If-Match, If-None-Match, " +
  "Last-Event-ID, Range, X-Namespace, X-Organization-Id, X-Request-Id";
const SHOWN_HEADERS =
  "Content-Disposition, Content-Range, ETag, RateLimit-Limit, RateLimit-Policy, RateLimit-Remaining, " +
  "RateLimit-Reset, Retry-After, Warning, X-Request-Id";
const PREFLIGHT_SECONDS = "600";

/** No answer allows credentials: they are sent in a header that the page must know, never in a cookie. */
export function cors(origins: readonly string[]): Middleware {
  const allowed = new Set(origins);
  return async (ctx, next) => {
    const origin = ctx.get("origin");
    if (allowed.size > 0) ctx.vary("Origin");
    if (!allowed.has(origin)) return next();
    ctx.set({
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Expose-Headers": SHOWN_HEADERS,
      "Cross-Origin-Resource-Policy": "cross-origin",
    });
    if (ctx.method !== "OPTIONS" || ctx.get("access-control-request-method") === "") return next();
    ctx.set({
      "Access-Control-Allow-Methods": ALLOWED_METHODS,
      "Access-Control-Allow-Headers": ALLOWED_HEADERS,
      "Access-Control-Max-Age": PREFLIGHT_SECONDS,
    });
    ctx.status = 204;
  };
}
