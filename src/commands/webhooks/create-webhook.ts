/** Makes a webhook for a space, or for the organization. */
import { authorize, authorizeLogin } from "../../auth/policy.ts";
import { inTenant, type Sql } from "../../db/pool.ts";
import { findSpaceOfOrganization } from "../../db/tenancy/spaces.ts";
import { insertWebhook } from "../../db/webhooks/records.ts";
import { notFound } from "../../domain/not-found.ts";
import type { EventType } from "../../domain/events/event-types.ts";
import { newId } from "../../domain/ids.ts";
import { createWebhookSecret, sealWebhookSecret } from "../../storage/keys/webhook-secret.ts";
import type { Caller } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { checkedTarget } from "./target.ts";
import { changedWebhook, type IssuedWebhook, requireRoomForWebhook, type WebhookDeps } from "./webhook.ts";

interface NewWebhook {
  /** Null: the organization. */
  readonly spaceId: string | null;
  readonly url: string;
  /** Empty: all. */
  readonly types: readonly EventType[];
  readonly description: string | null;
}

/**
 * @returns the webhook with its secret, which nobody can read again.
 * @throws DomainError `not_found`, `permission_denied`; `bad_request` if there are as many as are allowed;
 * ValidationProblems for a URL that nothing may be delivered to
 */
export async function createWebhook(
  deps: Omit<WebhookDeps, "dispatcher">,
  caller: Caller,
  { spaceId, url, types, description }: NewWebhook,
): Promise<IssuedWebhook> {
  const { principal } = caller;
  const { organization, user } = principal;
  authorizeLogin(principal);
  if (spaceId === null) authorize(principal, "webhooks:administer", { organization_id: organization.id });
  else authorize(principal, "webhooks:manage", { space_id: spaceId }, "space");
  const target = checkedTarget(url, deps.config.webhooks.allowHosts);
  const id = newId();
  const text = createWebhookSecret();
  const secret = await sealWebhookSecret(
    deps.keyring,
    { organizationId: organization.id, webhookId: id },
    text,
  );
  const webhook = await inTenant(deps.db, organization, async (sql) => {
    if (spaceId !== null) await requireSpace(sql, organization.id, spaceId);
    await requireRoomForWebhook(sql, principal);
    const made = await insertWebhook(sql, {
      id,
      organizationId: organization.id,
      spaceId,
      createdBy: user.id,
      url: target,
      types: [...new Set(types)],
      description,
      secret,
    });
    await recordChange(sql, caller, "webhooks:create", {
      ...changedWebhook(made),
      events: [{ type: "webhook.created" }],
    });
    return made;
  });
  return { ...webhook, secret: text };
}

/** A space that is being deleted takes no webhook any more: its deletion has ended those that there were. */
async function requireSpace(sql: Sql, organizationId: string, spaceId: string): Promise<void> {
  const space = await findSpaceOfOrganization(sql, organizationId, spaceId, { lock: true });
  if (space === undefined) throw notFound("space");
}
