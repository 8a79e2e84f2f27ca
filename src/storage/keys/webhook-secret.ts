/** Seals the secrets that sign deliveries with the organization's key, each bound to its webhook. */
import { type Keyring, openBytes, sealBytes } from "./keyring.ts";

export interface SealedSecret {
  readonly keyId: string;
  readonly sealed: Buffer;
}

interface Place {
  readonly organizationId: string;
  readonly webhookId: string;
}

const aadOf = ({ organizationId, webhookId }: Place, keyId: string): Buffer =>
  Buffer.from(`holdfast webhook secret\0${organizationId}\0${webhookId}\0${keyId}`);

/** @param secret as its owner is shown it: `whsec_…`. */
export async function sealWebhookSecret(
  keyring: Keyring,
  place: Place,
  secret: string,
): Promise<SealedSecret> {
  const key = await keyring.current(place.organizationId);
  return { keyId: key.id, sealed: sealBytes(key.secret, Buffer.from(secret), aadOf(place, key.id)) };
}

/** @throws DomainError `not_found` if the key was deleted, `corrupt` if the secret is that of another webhook. */
export async function openWebhookSecret(
  keyring: Keyring,
  place: Place,
  { keyId, sealed }: SealedSecret,
): Promise<string> {
  const key = await keyring.byId(place.organizationId, keyId);
  return openBytes(key.secret, sealed, aadOf(place, keyId)).toString("utf8");
}
