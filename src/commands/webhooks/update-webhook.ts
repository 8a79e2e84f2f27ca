/** Changes a webhook, pauses it, or makes it active again. */
import type { ToldEvent } from "../../db/audit/append.ts";
import { inTenant, type Sql } from "../../db/pool.ts";
import { makeWaitingDue } from "../../db/webhooks/deliveries.ts";
import {
  makerStillReaches,
  updateWebhook as writeWebhook,
  type WebhookRow,
  type WebhookValues,
} from "../../db/webhooks/records.ts";
import { DomainError } from "../../domain/errors.ts";
import type { EventType } from "../../domain/events/event-types.ts";
import { valueError, ValidationProblems } from "../../schema/requests/problem.ts";
import type { Caller } from "../caller.ts";
import { type IfUnchanged, requireUnchanged } from "../etag.ts";
import { recordChange } from "../record-change.ts";
import { checkedTarget } from "./target.ts";
import {
  changedWebhook,
  lockManagedWebhook,
  requireMaker,
  type WebhookDeps,
  webhookEtag,
} from "./webhook.ts";

/** What is undefined stays as it is. */
interface WebhookChange {
  /** Only the one that it has. */
  readonly spaceId?: string | null | undefined;
  readonly url: string | undefined;
  readonly types: readonly EventType[] | undefined;
  readonly description: string | null | undefined;
  readonly status: "active" | "paused" | undefined;
}

interface WebhookUpdate extends IfUnchanged {
  readonly change: WebhookChange;
}

/**
 * A change to the values that it has already writes nothing. What was not delivered while it was paused, and
 * what had failed, is delivered when it is active again; what had failed also if it has another URL.
 * @throws DomainError `not_found`, `precondition_failed`; `permission_denied`, also for a new URL from
 * another than its maker; `bad_request` if it is to be active and its maker has lost the role that it needs;
 * ValidationProblems for a URL that nothing may be delivered to, and for another space
 */
export async function updateWebhook(
  deps: Omit<WebhookDeps, "keyring">,
  caller: Caller,
  { id, ifMatch, change }: WebhookUpdate,
): Promise<WebhookRow> {
  const { principal } = caller;
  const { webhook, isDue } = await inTenant(deps.db, principal.organization, async (sql) => {
    const before = await lockManagedWebhook(sql, principal, id);
    requireUnchanged(ifMatch, webhookEtag(before));
    requireSameSpace(before, change.spaceId);
    const url =
      change.url === undefined ? before.url : checkedTarget(change.url, deps.config.webhooks.allowHosts);
    if (url !== before.url) requireMaker(principal, before);
    const values = valuesAfter(before, { ...change, url });
    if (values.status === "active" && before.status !== "active") await requireMakersReach(sql, before);
    const events = eventsOf(before, values);
    if (events.length === 0) return { webhook: before, isDue: false };
    const after = await writeWebhook(sql, id, values);
    if (values.startsAfresh) await makeWaitingDue(sql, id);
    await recordChange(sql, caller, "webhooks:update", { ...changedWebhook(after), events });
    return { webhook: after, isDue: values.startsAfresh };
  });
  if (isDue) deps.dispatcher.wakeWebhooks(principal.organization.id);
  return webhook;
}

function requireSameSpace(webhook: WebhookRow, spaceId: string | null | undefined): void {
  if (spaceId === undefined || spaceId === webhook.space_id) return;
  throw new ValidationProblems([
    valueError(["body", "space_id"], "space_id is read-only: send it unchanged, or omit it", spaceId),
  ]);
}

function valuesAfter(before: WebhookRow, change: WebhookChange & { readonly url: string }): WebhookValues {
  const { url, types, description = before.description, status } = change;
  const isResumed = status === "active" && before.status !== "active";
  const isPaused = status === "paused" && before.status === "active";
  const kept = { status: before.status, reason: before.status_reason };
  const paused = { status: "paused", reason: "by_user" } as const;
  const active = { status: "active", reason: null } as const;
  return {
    url,
    types: types === undefined ? before.types : [...new Set(types)],
    description,
    ...(isResumed ? active : isPaused ? paused : kept),
    startsAfresh: isResumed || url !== before.url,
  };
}

/** None if nothing changes. */
function eventsOf(before: WebhookRow, after: WebhookValues): ToldEvent[] {
  if (before.status === "active" && after.status === "paused")
    return [{ type: "webhook.paused", data: { reason: after.reason } }];
  const state = ({
    url,
    types,
    description,
    status,
  }: Pick<WebhookValues, "url" | "types" | "description" | "status">) =>
    JSON.stringify([url, types, description, status]);
  return state(before) === state(after) ? [] : [{ type: "webhook.updated", data: { status: after.status } }];
}

async function requireMakersReach(sql: Sql, webhook: WebhookRow): Promise<void> {
  if (!(await makerStillReaches(sql, webhook)))
    throw new DomainError(
      "webhook_not_active",
      "The webhook's creator has lost the required role, so the webhook cannot be activated.",
    );
}
