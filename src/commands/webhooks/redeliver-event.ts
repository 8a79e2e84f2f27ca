/** Delivers an event again, or at once if it waits for its next attempt. */
import { inTenant } from "../../db/pool.ts";
import {
  type DeliveryRow,
  findDelivery,
  isEventKept,
  makePendingAgain,
} from "../../db/webhooks/deliveries.ts";
import { makeDue } from "../../db/webhooks/records.ts";
import { DomainError } from "../../domain/errors.ts";
import { notFound } from "../../domain/not-found.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { changedWebhook, lockManagedWebhook, requireActive } from "./webhook.ts";

/**
 * It has the same id as before, by which a receiver knows it.
 * @returns the delivery as it is now.
 * @throws DomainError `not_found`, `permission_denied`; `bad_request` if the webhook is not active;
 * `cursor_expired` if the event is not kept any more
 */
export async function redeliverEvent(
  deps: Pick<CommandDeps, "db" | "dispatcher">,
  caller: Caller,
  { webhookId, deliveryId }: { readonly webhookId: string; readonly deliveryId: string },
): Promise<DeliveryRow> {
  const { organization } = caller.principal;
  const delivery = await inTenant(deps.db, organization, async (sql) => {
    const webhook = await lockManagedWebhook(sql, caller.principal, webhookId);
    if ((await findDelivery(sql, webhook.id, deliveryId)) === undefined) throw notFound("delivery");
    requireActive(webhook);
    if (!(await isEventKept(sql, organization.id, deliveryId)))
      throw new DomainError("cursor_expired", "The event of this delivery is no longer kept.");
    const pending = await makePendingAgain(sql, deliveryId);
    await makeDue(sql, webhook.id);
    await recordChange(sql, caller, "webhooks:redeliver", { ...changedWebhook(webhook), events: [] });
    return pending;
  });
  deps.dispatcher.wakeWebhooks(organization.id);
  return delivery;
}
