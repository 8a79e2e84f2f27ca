/** The rows that a request leaves in the audit log. */
import type { Context } from "koa";
import type { Refusal } from "../auth/refusals.ts";
import { DomainError } from "../domain/errors.ts";
import { isUuid } from "../domain/ids.ts";
import { type NoteOpened, OPENING } from "../domain/tenancy/opened-content.ts";
import type { Principal } from "../domain/tenancy/principal.ts";
import { plainId } from "../schema/openai/ids.ts";
import { ValidationProblems } from "../schema/requests/problem.ts";
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

export function auditedRequest(
  ctx: Context,
  { deps, principal, body }: Pick<Audited, "deps" | "principal" | "body">,
): Audited {
  const params = (ctx["params"] ?? {}) as Record<string, string>;
  return { deps, principal, body, params, requestId: ctx.state["requestId"] as string };
}

/**
 * Notes what a request read. Changes are noted in the transaction that makes them.
 * @param hasOpened whether it opened a document, of which {@link openedNoter} has noted more than is known
 * here.
 */
export function auditRead(route: Route, audited: Audited, hasOpened: boolean): void {
  const { audit: rule } = route;
  if (rule === undefined || (rule.isChange ?? route.method !== "GET")) return;
  if (hasOpened && (rule.action === OPENING.document || rule.action === OPENING.user_file)) return;
  recordNamed(rule, audited, "success");
}

/** Makes what notes whole content that a request opens, at once: what fails later has been read. */
export function openedNoter(
  { audit }: Pick<Deps, "audit">,
  principal: Principal | undefined,
  requestId: string,
): NoteOpened {
  return ({ type, id, spaceId }) => {
    if (principal === undefined) throw new Error("a request without a caller accessed content");
    audit.record(principal, {
      action: OPENING[type],
      resource_type: type,
      resource_id: id,
      space_id: spaceId,
      request_id: requestId,
      outcome: "success",
    });
  };
}

/** The rule of what is asked for, and the route by which it is. */
export interface Door extends Pick<Route, "fullPath" | "form"> {
  readonly method: string;
  readonly audit?: AuditRule | undefined;
}

/** Notes a refused request: a key's folded by code; a login's per thing named, if a right is missing. */
export function auditRefusal(door: Door, audited: Audited, error: unknown): void {
  const { audit: rule } = door;
  const { deps, principal } = audited;
  if (principal === undefined) return;
  if (principal.authMethod === "api_key") {
    const code = refusalCode(error, door.form);
    if (code !== undefined) deps.audit.refuse(principal, refusalOf(door, audited, code));
  } else if (rule !== undefined && error instanceof DomainError && error.code === "permission_denied") {
    recordNamed(rule, audited, "denied");
  }
}

/** Of routes without a rule, which hold nothing of an organization's, the row names the route alone. */
const WITHOUT_RULE: AuditRule = { action: "requests:refuse", resource: "route" };

function refusalOf(door: Door, { requestId, params, body }: Audited, code: string): Refusal {
  const rule = door.audit ?? WITHOUT_RULE;
  const [named] = namedBy(rule, params, body);
  return {
    action: rule.action,
    resource_type: rule.resource,
    // What was asked for may be any text.
    resource_id: idOrNull(named?.resource_id),
    space_id: idOrNull(named?.space_id),
    request_id: requestId,
    route: routeName(door),
    code,
  };
}

const REFUSED: ReadonlySet<number> = new Set([401, 403, 404]);

/** The code of an error that refuses the caller or an id that was asked for; undefined for all others. */
function refusalCode(error: unknown, form: Door["form"]): string | undefined {
  if (error instanceof ValidationProblems) {
    const isOfId = error.problems.some(({ type, loc }) => type !== "missing" && isIdField(loc, form));
    return isOfId ? "invalid" : undefined;
  }
  if (!(error instanceof DomainError)) return undefined;
  const { status, param } = error;
  const isOfId =
    (status === 400 || status === 422) && param !== undefined && isIdField(param.split(/[.[\]]+/), form);
  return REFUSED.has(status) || isOfId ? error.reason : undefined;
}

/** @example isIdField(["body", "document_ids", 0]) // true */
function isIdField(path: readonly (string | number)[], form: Door["form"]): boolean {
  const name = path.findLast((part) => typeof part === "string" && !/^\d*$/.test(part));
  if (typeof name !== "string") return false;
  return ID_FIELD.test(name) || (form === "openai" && CURSOR_FIELD.test(name));
}

const ID_FIELD = /(?:^|_)ids?$/;
/** OpenAI's lists go on after an entry by its id; other lists have cursors, which name nothing. */
const CURSOR_FIELD = /^(?:after|before)$/;

const idOrNull = (id: string | null | undefined): string | null =>
  typeof id === "string" && isUuid(id) ? id : null;

/** @example "GET /v1/data/{document_id}/text" */
function routeName({ method, fullPath }: Door): string {
  return `${method} ${fullPath.replaceAll(/[:*](\w+)/g, "{$1}")}`;
}

function recordNamed(
  rule: AuditRule,
  { deps, requestId, params, principal, body }: Audited,
  outcome: "success" | "denied",
): void {
  if (principal === undefined) return;
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
