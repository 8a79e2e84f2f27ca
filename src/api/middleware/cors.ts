/** Lets pages of the origins that CORS_ORIGINS names call the API; by default no other origin may. */
import type { Middleware } from "koa";

const ALLOWED_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
/** Temporal's Web UI sends X-Namespace and Authorization-Extras (an id token); the rest is OpenAI's. */
const ALLOWED_HEADERS = [
  ..."Authorization Authorization-Extras Content-Type Idempotency-Key If-Match If-None-Match".split(" "),
  ..."Last-Event-ID MCP-Protocol-Version Mcp-Session-Id OpenAI-Beta OpenAI-Organization OpenAI-Project Range Traceparent".split(
    " ",
  ),
  ..."X-Namespace X-Organization-Id X-Request-Id".split(" "),
];
/** What OpenAI's clients say of themselves; each of their versions adds some. */
const OF_OPENAI_CLIENTS = /^x-stainless-[a-z-]{1,40}$/;
/** More are not looked at. */
const MAX_ASKED_CHARACTERS = 2_000;
const SHOWN_HEADERS =
  "Accept-Ranges, Allow, Content-Disposition, Content-Range, ETag, Mcp-Session-Id, RateLimit-Limit, RateLimit-Policy, " +
  "RateLimit-Remaining, RateLimit-Reset, Retry-After, Warning, X-Dropped-Messages, X-Request-Id, X-Should-Retry";
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
      "Access-Control-Allow-Headers": allowedHeaders(ctx.get("access-control-request-headers")),
      "Access-Control-Max-Age": PREFLIGHT_SECONDS,
    });
    ctx.status = 204;
  };
}

/** Those that are always allowed, and those of OpenAI's clients that the page asks for. */
function allowedHeaders(asked: string): string {
  const names = asked.slice(0, MAX_ASKED_CHARACTERS).toLowerCase().split(",");
  const ofClients = names.map((name) => name.trim()).filter((name) => OF_OPENAI_CLIENTS.test(name));
  return [...ALLOWED_HEADERS, ...ofClients].join(", ");
}
