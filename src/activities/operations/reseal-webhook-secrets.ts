/** Seals the secrets of webhooks with the organization's current key, so that older keys can be destroyed. */
import {
  listWebhooksOfOldKeys,
  replaceSeals,
  type SealedWebhook,
} from "../../db/encryption/webhook-secrets.ts";
import { type Database, inTenant, type OrganizationRef } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Keyring } from "../../storage/keys/keyring.ts";
import {
  openWebhookSecret,
  type SealedSecret,
  sealWebhookSecret,
} from "../../storage/keys/webhook-secret.ts";

interface ResealDeps {
  readonly db: Database;
  readonly keyring: Keyring;
}

/** Idempotent. A damaged secret stays, with its key. @param keyId the organization's current key. */
export async function resealWebhookSecrets(
  deps: ResealDeps,
  organization: OrganizationRef,
  keyId: string,
): Promise<void> {
  let after: string | null = null;
  for (;;) {
    const page: SealedWebhook[] = await inTenant(deps.db, organization, (sql) =>
      listWebhooksOfOldKeys(sql, organization.id, { keyId, after }),
    );
    if (page.length === 0) return;
    for (const webhook of page) await resealOne(deps, organization, webhook);
    after = page.at(-1)!.id;
  }
}

async function resealOne(
  { db, keyring }: ResealDeps,
  organization: OrganizationRef,
  webhook: SealedWebhook,
): Promise<void> {
  const endpoint = { organizationId: organization.id, webhookId: webhook.id };
  const resealed = async (before: SealedSecret | null) => {
    if (before === null) return null;
    try {
      const text = await openWebhookSecret(keyring, endpoint, before);
      return { from: before.sealed, to: await sealWebhookSecret(keyring, endpoint, text) };
    } catch (error) {
      if (error instanceof DomainError && (error.code === "not_found" || error.code === "corrupt"))
        return null;
      throw error;
    }
  };
  const seals = { current: await resealed(webhook.current), previous: await resealed(webhook.previous) };
  await inTenant(db, organization, (sql) => replaceSeals(sql, webhook.id, seals));
}
