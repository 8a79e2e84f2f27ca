/** Sets headers that keep browsers from sniffing, framing, caching or running an answer. */
import type { Middleware } from "koa";

const HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "no-store",
};

/** A handler may override each of them. */
export const securityHeaders: Middleware = async (ctx, next) => {
  ctx.set(HEADERS);
  await next();
};
