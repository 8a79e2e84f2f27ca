/** Puts the HTTP API together. The list of middleware is the order in which a request passes them. */
import { Router } from "@koa/router";
import Koa, { type Context } from "koa";
import { auditedRequest, auditRefusal, type Door } from "./audit-request.ts";
import type { Deps } from "./deps.ts";
import { noteKeyUse } from "./key-use.ts";
import { knownPaths, trailingSlash } from "./middleware/addresses.ts";
import { errorGuide } from "./errors/error-body.ts";
import { errorAnswers } from "./middleware/error-answers.ts";
import { cors } from "./middleware/cors.ts";
import { observe } from "./middleware/observe.ts";
import { createRateLimit, type RateLimit } from "./middleware/rate-limit.ts";
import { requestId } from "./middleware/request-id.ts";
import { securityHeaders } from "./middleware/security-headers.ts";
import { requestLog } from "./middleware/request-log.ts";
import type { Route } from "./route.ts";
import { routeHandler } from "./route-handler.ts";

/** Serves `routes` and nothing else. */
export function createApp(deps: Deps, routes: readonly Route[]): Koa {
  const { trustedProxies, corsOrigins, publicUrl } = deps.config.api;
  const app = new Koa({ proxy: trustedProxies > 0, maxIpsCount: trustedProxies });
  const limit = createRateLimit(deps.config.limits, deps.callerCounts);
  const router = createRouter(deps, routes, limit);
  app.use(requestId);
  app.use(observe);
  app.use(requestLog(deps.log));
  app.use(securityHeaders);
  app.use(cors(corsOrigins));
  app.use(errorAnswers(deps.log, errorGuide(publicUrl)));
  app.use(trailingSlash);
  app.use(
    knownPaths(router, async (ctx, error) => {
      const principal = await noteKeyUse(ctx, deps, limit);
      auditRefusal(noRoute(ctx), auditedRequest(ctx, { deps, principal, body: undefined }), error);
    }),
  );
  app.use(router.routes());
  // errorAnswers has answered every other error, so this is a broken connection.
  app.on("error", (error: Error) => deps.log.debug({ err: error }, "a connection broke during the response"));
  return app;
}

/** Never the address itself, which may be any text. */
const noRoute = ({ method }: Context): Door => ({ method, fullPath: "(no route)" });

function createRouter(deps: Deps, routes: readonly Route[], limit: RateLimit): Router {
  const router = new Router({ strict: true, sensitive: true });
  for (const route of routes.toSorted(bySpecificity)) {
    router.register(route.fullPath, [route.method], routeHandler(route, deps, limit));
  }
  return router;
}

/** Sorts literal segments before parameters, and both before the rest of a path, compared from the left. */
function bySpecificity(a: Route, b: Route): number {
  const key = (route: Route): string =>
    route.fullPath
      .split("/")
      .map((segment) => KINDS[segment[0] ?? ""] ?? "0")
      .join("");
  if (key(a) === key(b)) return 0;
  return key(a) < key(b) ? -1 : 1;
}

const KINDS: Readonly<Record<string, string>> = { ":": "1", "*": "2" };
