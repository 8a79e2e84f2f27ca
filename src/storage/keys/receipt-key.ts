/** Seals the private keys that sign receipts with the organization's key. */
import { type Keyring, openBytes, sealBytes } from "./keyring.ts";

/** The key of receipts that it is the private half of; it opens for no other. */
interface Place {
  readonly organizationId: string;
  readonly kid: string;
}

interface SealedPrivateKey {
  /** The organization's key that it is sealed with. */
  readonly sealKeyId: string;
  readonly sealed: Buffer;
}

/** Seals the bytes of a private key with the organization's current key. */
export async function sealReceiptKey(
  keyring: Pick<Keyring, "current">,
  place: Place,
  privateKey: Uint8Array,
): Promise<SealedPrivateKey> {
  const { id, secret } = await keyring.current(place.organizationId);
  return { sealKeyId: id, sealed: sealBytes(secret, privateKey, aadOf(place, id)) };
}

/**
 * The bytes that {@link sealReceiptKey} was given.
 * @throws DomainError `not_found` if the organization's key was destroyed; `corrupt` if they were sealed for
 * another key or were changed.
 */
export async function openReceiptKey(
  keyring: Pick<Keyring, "byId">,
  place: Place,
  { sealKeyId, sealed }: SealedPrivateKey,
): Promise<Buffer> {
  const { secret } = await keyring.byId(place.organizationId, sealKeyId);
  return openBytes(secret, sealed, aadOf(place, sealKeyId));
}

function aadOf({ organizationId, kid }: Place, keyId: string): Buffer {
  return Buffer.from(`holdfast receipt key\0${organizationId}\0${kid}\0${keyId}`);
}
