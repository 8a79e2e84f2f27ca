/** Headers that every answer carries so that a browser does nothing with it that was not meant. */
import type { Middleware } from "koa";

const HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "no-store",
};

/** A handler may replace each of them. */
export const securityHeaders: Middleware = async (ctx, next) => {
  ctx.set(HEADERS);
  await next();
};
