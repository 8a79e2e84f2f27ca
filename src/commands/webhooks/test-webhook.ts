/** Sends a test event to one webhook, through the log as every event, whatever its types are. */
import { inTenant } from "../../db/pool.ts";
import { makeDue } from "../../db/webhooks/records.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { changedWebhook, lockManagedWebhook, requireActive } from "./webhook.ts";

/** @throws DomainError `not_found`, `permission_denied`; `bad_request` if it is not active */
export async function testWebhook(
  deps: Pick<CommandDeps, "db" | "dispatcher">,
  caller: Caller,
  { id }: { readonly id: string },
): Promise<void> {
  const { organization } = caller.principal;
  await inTenant(deps.db, organization, async (sql) => {
    const webhook = await lockManagedWebhook(sql, caller.principal, id);
    requireActive(webhook);
    await makeDue(sql, webhook.id);
    await recordChange(sql, caller, "webhooks:test", {
      ...changedWebhook(webhook),
      events: [{ type: "webhook.test" }],
    });
  });
  deps.dispatcher.wakeWebhooks(organization.id);
}
