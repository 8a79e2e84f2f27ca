/** Measures requests by the route's pattern, the method and the class of the status, and traces them. */
import type { Context, Middleware } from "koa";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { httpRequests } from "../../telemetry/instruments.ts";
import { type OpenSpan, openSpan } from "../../telemetry/span.ts";

const UNMATCHED = "unmatched";

export const observe: Middleware = async (ctx, next) => {
  const startedAt = performance.now();
  const span = beginSpan(ctx);
  ctx.res.once("close", () => {
    const route = (ctx.state["route"] as string | undefined) ?? UNMATCHED;
    // Node accepts some thirty methods, each a series as a label: those without a route are one.
    const method = route === UNMATCHED ? "other" : ctx.method;
    const status = ctx.res.writableFinished ? `${Math.floor(ctx.res.statusCode / 100)}xx` : "closed";
    httpRequests.observe({ route, method, status }, (performance.now() - startedAt) / 1_000);
    endSpan(ctx, span, `${method} ${route}`);
  });
  await span.run(next);
};

/** Health probes are too frequent to begin traces. */
function beginSpan(ctx: Context): OpenSpan {
  const { traceparent, tracestate } = ctx.headers;
  const parent = {
    ...(typeof traceparent === "string" ? { traceparent } : {}),
    ...(typeof tracestate === "string" ? { tracestate } : {}),
  };
  return openSpan("request", { kind: ctx.path.startsWith("/health") ? "internal" : "server", parent });
}

function endSpan(ctx: Context, span: OpenSpan, name: string): void {
  const principal = ctx.state["principal"] as Principal | undefined;
  span.rename(name);
  span.set({
    "http.request.method": ctx.method,
    "http.route": (ctx.state["route"] as string | undefined) ?? UNMATCHED,
    "http.response.status_code": ctx.res.statusCode,
    "holdfast.request_id": ctx.state["requestId"] as string,
    ...(principal === undefined ? {} : { "holdfast.organization_id": principal.organization.id }),
  });
  span.end(ctx.res.statusCode >= 500 ? new Error("answered with a server error") : undefined);
}
