/** Deletes a webhook. Nothing is delivered to it from now on; its deliveries go in the background. */
import { inTenant } from "../../db/pool.ts";
import { markWebhookDeleted } from "../../db/webhooks/endings.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { type IfUnchanged, requireUnchanged } from "../etag.ts";
import { recordChange } from "../record-change.ts";
import { changedWebhook, lockManagedWebhook, webhookEtag } from "./webhook.ts";

/** @throws DomainError `not_found`, `permission_denied`, `precondition_failed` */
export async function deleteWebhook(
  deps: Pick<CommandDeps, "db">,
  caller: Caller,
  { id, ifMatch }: IfUnchanged,
): Promise<void> {
  await inTenant(deps.db, caller.principal.organization, async (sql) => {
    const webhook = await lockManagedWebhook(sql, caller.principal, id);
    requireUnchanged(ifMatch, webhookEtag(webhook));
    await markWebhookDeleted(sql, webhook.id);
    await recordChange(sql, caller, "webhooks:delete", {
      ...changedWebhook(webhook),
      events: [{ type: "webhook.deleted" }],
    });
  });
}
