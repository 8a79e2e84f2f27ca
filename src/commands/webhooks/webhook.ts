/** What the commands of webhooks share: who may manage one, how many there may be, its ETag. */
import { authorize, authorizeLogin } from "../../auth/policy.ts";
import type { Sql } from "../../db/pool.ts";
import { countWebhooks, findWebhook, type WebhookRow } from "../../db/webhooks/records.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { CommandDeps } from "../caller.ts";
import { etagOf } from "../etag.ts";

/** What commands need that look at the target of a webhook or make a secret. */
export interface WebhookDeps extends Pick<CommandDeps, "db" | "dispatcher" | "keyring"> {
  readonly config: { readonly webhooks: { readonly allowHosts: readonly string[] } };
}

/** A webhook with its secret, which nobody can read again. */
export type IssuedWebhook = WebhookRow & { readonly secret: string };

/** Each placed event is held against all active webhooks of its organization. */
const MAX_OF_ORGANIZATION = 1_000;
/** So that one user cannot take the organization's places. */
const MAX_OF_USER = 100;

export const webhookEtag = (webhook: WebhookRow): string =>
  etagOf(webhook.id, webhook.updated_at, webhook.status, webhook.overlap_ends_at);

/**
 * A space's webhooks are managed by its owners, and the organization's by its admins. Admins do not manage
 * those of spaces that they do not own: whoever changes a webhook could send a space's events elsewhere.
 * @throws DomainError `not_found`, `permission_denied`
 */
export function authorizeWebhook(
  principal: Principal,
  webhook: WebhookRow | undefined,
): asserts webhook is WebhookRow {
  const { organization_id: organizationId, space_id: spaceId } = webhook ?? {};
  if (organizationId !== undefined && spaceId === null)
    authorize(principal, "webhooks:administer", { organization_id: organizationId });
  else authorize(principal, "webhooks:manage", spaceId ? { space_id: spaceId } : undefined);
}

/** Locks the webhook's row for the transaction. @throws DomainError `not_found`, `permission_denied` */
export async function lockManagedWebhook(sql: Sql, principal: Principal, id: string): Promise<WebhookRow> {
  authorizeLogin(principal);
  const webhook = await findWebhook(sql, principal.organization.id, id, { lock: true });
  authorizeWebhook(principal, webhook);
  return webhook;
}

/**
 * Delivers events that the maker may see, so only the maker may change where they go and how they are signed.
 * @throws DomainError `permission_denied`
 */
export function requireMaker(principal: Principal, webhook: WebhookRow): void {
  if (webhook.created_by !== principal.user.id)
    throw new DomainError("permission_denied", "Permission denied: only the webhook's creator may do this");
}

/** @throws DomainError `bad_request` for a webhook to which nothing is delivered now. */
export function requireActive(webhook: WebhookRow): void {
  if (webhook.status !== "active")
    throw new DomainError("webhook_not_active", "The webhook is not active: activate it first.");
}

/** @throws DomainError `bad_request` if the organization or the user has as many as are allowed. */
export async function requireRoomForWebhook(sql: Sql, { organization, user }: Principal): Promise<void> {
  const { total, own } = await countWebhooks(sql, organization.id, user.id);
  if (total >= MAX_OF_ORGANIZATION)
    throw new DomainError(
      "limit_reached",
      `An organization may have at most ${MAX_OF_ORGANIZATION} webhooks`,
    );
  if (own >= MAX_OF_USER)
    throw new DomainError("limit_reached", `A user may have at most ${MAX_OF_USER} webhooks`);
}

/** What an audit row and an event say of the webhook. */
export const changedWebhook = ({ id, space_id: spaceId }: WebhookRow) =>
  ({ type: "webhook", id, ...(spaceId === null ? {} : { spaceId }) }) as const;
