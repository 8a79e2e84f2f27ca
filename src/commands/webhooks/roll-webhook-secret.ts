/** Gives a webhook a new secret, while the one of before signs too for some time. */
import { inTenant } from "../../db/pool.ts";
import { replaceSecret } from "../../db/webhooks/records.ts";
import { createWebhookSecret, sealWebhookSecret } from "../../storage/keys/webhook-secret.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { changedWebhook, type IssuedWebhook, lockManagedWebhook, requireMaker } from "./webhook.ts";

interface SecretRoll {
  readonly id: string;
  /** Seconds for which the secret of before signs too; 0 ends it at once. */
  readonly overlapSeconds: number;
}

/**
 * @returns the webhook with its new secret, which nobody can read again.
 * @throws DomainError `not_found`; `permission_denied`, also for another than its maker
 */
export async function rollWebhookSecret(
  deps: Pick<CommandDeps, "db" | "keyring">,
  caller: Caller,
  { id, overlapSeconds }: SecretRoll,
): Promise<IssuedWebhook> {
  const { organization } = caller.principal;
  const text = createWebhookSecret();
  const secret = await sealWebhookSecret(
    deps.keyring,
    { organizationId: organization.id, webhookId: id },
    text,
  );
  const webhook = await inTenant(deps.db, organization, async (sql) => {
    const before = await lockManagedWebhook(sql, caller.principal, id);
    requireMaker(caller.principal, before);
    const rolled = await replaceSecret(sql, id, secret, overlapSeconds);
    await recordChange(sql, caller, "webhooks:roll_secret", {
      ...changedWebhook(rolled),
      events: [{ type: "webhook.updated", data: { status: rolled.status, changed: "secret" } }],
    });
    return rolled;
  });
  return { ...webhook, secret: text };
}
