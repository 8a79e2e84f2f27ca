/** The rows that a request leaves in the audit log. */
import type { Context } from "koa";
import type { Principal } from "../domain/tenancy/principal.ts";
import { plainId } from "../schema/openai/ids.ts";
import type { Deps } from "./deps.ts";
import type { AuditRule, Route } from "./route.ts";

interface Audited {
  readonly deps: Pick<Deps, "audit">;
  readonly requestId: string;
  /** Of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly principal: Principal | undefined;
  /** As the contract read it; undefined for a request that failed before. */
  readonly body: unknown;
}

/** Notes what a request read, and what it was denied. Changes are noted in the transaction that makes them. */
export function audit(
  route: Route,
  { ctx, ...audited }: Omit<Audited, "requestId" | "params"> & { readonly ctx: Context },
  outcome: "success" | "denied",
): void {
  const params = (ctx["params"] ?? {}) as Record<string, string>;
  auditAs(route, { ...audited, params, requestId: ctx.state["requestId"] as string }, outcome);
}

/** The same for a request that comes by another door than the route's. */
export function auditAs(
  route: Route,
  { deps, requestId, params, principal, body }: Audited,
  outcome: "success" | "denied",
): void {
  const { audit: rule } = route;
  if (rule === undefined || principal === undefined) return;
  const isChange = rule.isChange ?? route.method !== "GET";
  if (isChange && outcome === "success") return;
  for (const named of namedBy(rule, params, body)) {
    deps.audit.record(principal, {
      action: rule.action,
      resource_type: rule.resource,
      ...named,
      request_id: requestId,
      outcome,
    });
  }
}

/** What the request names, by its path or its body. */
function namedBy(
  { resource, param = `${resource}_id`, idField, idsField, idsOf }: AuditRule,
  params: Readonly<Record<string, string>>,
  body: unknown,
): { resource_id: string | null; space_id: string | null }[] {
  const of = (field: string | undefined): unknown =>
    field === undefined ? undefined : (body as Record<string, unknown> | undefined)?.[field];
  const ids: unknown = body === undefined ? undefined : (idsOf?.(body) ?? of(idsField));
  const named: unknown[] = Array.isArray(ids) ? [...new Set(ids)] : [params[param] ?? of(idField)];
  return named.map((one) => {
    const id = typeof one === "string" ? plainId(one.toLowerCase()) : null;
    return {
      resource_id: id,
      space_id: resource === "space" ? id : (params["space_id"]?.toLowerCase() ?? null),
    };
  });
}
