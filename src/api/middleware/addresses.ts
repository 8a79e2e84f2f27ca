/** Refuses requests by their address and method (414, 404, 405), and accepts paths with a trailing slash. */
import type { Router } from "@koa/router";
import type { Context, Middleware } from "koa";
import { DomainError } from "../../domain/errors.ts";

const MAX_URL_CHARACTERS = 8_192;

/** Makes every path work with and without a slash at its end. */
export const trailingSlash: Middleware = async (ctx, next) => {
  if (ctx.url.length > MAX_URL_CHARACTERS) throw new DomainError("uri_too_long", "URI Too Long");
  if (ctx.path.length > 1 && ctx.path.endsWith("/")) ctx.path = ctx.path.slice(0, -1);
  await next();
};

/**
 * The first layer that matches is the right path, because the router holds literal paths before templates.
 * @param beforeRefusal is waited for before a request is refused.
 */
export function knownPaths(
  router: Router,
  beforeRefusal: (ctx: Context, error: DomainError) => Promise<unknown>,
): Middleware {
  const refused = async (ctx: Context, error: DomainError): Promise<DomainError> => {
    await beforeRefusal(ctx, error);
    return error;
  };
  return async (ctx, next) => {
    const layers = router.match(ctx.path, ctx.method).path;
    const meant = layers[0];
    if (meant === undefined) {
      throw await refused(ctx, new DomainError("route_not_found", "Not Found"));
    }
    const methods = layers.filter((layer) => layer.path === meant.path).flatMap((layer) => layer.methods);
    if (!methods.includes(ctx.method)) {
      const error = await refused(ctx, new DomainError("method_not_allowed", "Method Not Allowed"));
      ctx.set("Allow", [...new Set(methods)].toSorted().join(", "));
      throw error;
    }
    await next();
  };
}
