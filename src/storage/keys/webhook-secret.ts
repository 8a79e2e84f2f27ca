/**
 * Makes the secrets that sign deliveries, and seals them with the organization's key.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
import { randomBytes } from "node:crypto";
import { type Keyring, openBytes, sealBytes } from "./keyring.ts";

const SECRET_BYTES = 32;
/** What the text of a secret begins with; base64 follows. */
export const WEBHOOK_SECRET_PREFIX = "whsec_";

/** The endpoint whose secret it is; it opens for no other. */
interface Endpoint {
  readonly organizationId: string;
  readonly webhookId: string;
}

export interface SealedSecret {
  /** The organization's key that it is sealed with. */
  readonly keyId: string;
  readonly sealed: Buffer;
}

/** A new secret: `whsec_` and the base64 of 32 random bytes. */
export function createWebhookSecret(): string {
  return WEBHOOK_SECRET_PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** Seals the text of a secret with the organization's current key. */
export async function sealWebhookSecret(
  keyring: Pick<Keyring, "current">,
  endpoint: Endpoint,
  text: string,
): Promise<SealedSecret> {
  const { id, secret } = await keyring.current(endpoint.organizationId);
  return { keyId: id, sealed: sealBytes(secret, Buffer.from(text), aadOf(endpoint, id)) };
}

/**
 * The text that {@link sealWebhookSecret} was given.
 * @throws DomainError `not_found` if the key was destroyed; `corrupt` if it was sealed for another endpoint
 * or was changed.
 */
export async function openWebhookSecret(
  keyring: Pick<Keyring, "byId">,
  endpoint: Endpoint,
  { keyId, sealed }: SealedSecret,
): Promise<string> {
  const { secret } = await keyring.byId(endpoint.organizationId, keyId);
  return openBytes(secret, sealed, aadOf(endpoint, keyId)).toString();
}

function aadOf({ organizationId, webhookId }: Endpoint, keyId: string): Buffer {
  return Buffer.from(`holdfast webhook secret\0${organizationId}\0${webhookId}\0${keyId}`);
}
