/** Delivers the events of a time again, also such as the webhook has never got. */
import { inTenant, type Sql } from "../../db/pool.ts";
import { makeDue } from "../../db/webhooks/records.ts";
import { countOpenReplays, insertReplay, oldestKept, type ReplayRow } from "../../db/webhooks/replays.ts";
import { DomainError } from "../../domain/errors.ts";
import type { EventType } from "../../domain/events/event-types.ts";
import { newId } from "../../domain/ids.ts";
import { ValidationProblems, valueError } from "../../schema/requests/problem.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { changedWebhook, lockManagedWebhook, requireActive } from "./webhook.ts";

interface Replay {
  readonly webhookId: string;
  /** ISO 8601: events from then on. */
  readonly from: string;
  /** ISO 8601: events before then; null: until now. */
  readonly to: string | null;
  /** Narrows the webhook's own types; empty: those. */
  readonly types: readonly EventType[];
}

/** Each goes through its stretch of the log beside the deliveries of new events. */
const MAX_OPEN = 3;

/**
 * @throws DomainError `not_found`, `permission_denied`; `bad_request` if the webhook is not active or has as
 * many open replays as are allowed; `cursor_expired` if `from` is before what is kept; ValidationProblems if
 * `from` is not before `to`
 */
export async function replayEvents(
  deps: Pick<CommandDeps, "db" | "dispatcher">,
  caller: Caller,
  { webhookId, from, to, types }: Replay,
): Promise<ReplayRow & { readonly webhook_id: string }> {
  const { organization } = caller.principal;
  const stretch = { from: new Date(from), to: to === null ? new Date() : new Date(to) };
  if (stretch.from >= stretch.to)
    throw new ValidationProblems([valueError(["body", "from"], "must be before `to`", from)]);
  const replay = await inTenant(deps.db, organization, async (sql) => {
    const webhook = await lockManagedWebhook(sql, caller.principal, webhookId);
    requireActive(webhook);
    await requireRoomForReplay(sql, webhook.id);
    await requireKept(sql, organization.id, stretch.from);
    const asked = { id: newId(), organizationId: organization.id, webhookId: webhook.id };
    const made = await insertReplay(sql, { ...asked, ...stretch, types: [...new Set(types)] });
    await makeDue(sql, webhook.id);
    await recordChange(sql, caller, "webhooks:replay", { ...changedWebhook(webhook), events: [] });
    const answer = { ...made, webhook_id: webhook.id };
    await caller.keepAnswer?.(sql, answer);
    return answer;
  });
  deps.dispatcher.wakeWebhooks(organization.id);
  return replay;
}

/** The webhook is locked, so that no other request takes the last place. */
async function requireRoomForReplay(sql: Sql, webhookId: string): Promise<void> {
  if ((await countOpenReplays(sql, webhookId)) >= MAX_OPEN)
    throw new DomainError("limit_reached", `A webhook may have at most ${MAX_OPEN} replays in progress`);
}

async function requireKept(sql: Sql, organizationId: string, from: Date): Promise<void> {
  const oldest = await oldestKept(sql, organizationId);
  if (oldest !== null && from < oldest)
    throw new DomainError("cursor_expired", `The oldest kept event is from ${oldest.toISOString()}.`);
}
