/** How payloads for Temporal are sealed: with the organization's key, or the instance's where a workflow serves several organizations. */
import { createSecretKey } from "node:crypto";
import { type Keyring, openBytes, sealBytes } from "./keyring.ts";

interface SealedPayload {
  readonly keyId: string;
  readonly sealed: Buffer;
}

interface PayloadSealer {
  seal(organizationId: string | null, bytes: Uint8Array): Promise<SealedPayload>;
  open(organizationId: string | null, keyId: string, sealed: Uint8Array): Promise<Buffer>;
}

const INSTANCE_KEY_ID = "instance";

/** `instanceSecret` has 32 bytes. Opening throws `not_found` for a deleted key and `corrupt` for a changed bit. */
export function createPayloadSealer(keyring: Keyring, instanceSecret: Uint8Array): PayloadSealer {
  const instanceKey = createSecretKey(instanceSecret);
  const aad = (organizationId: string | null): Buffer => Buffer.from(`temporal payload\0${organizationId ?? ""}`);
  return {
    async seal(organizationId, bytes) {
      if (organizationId === null) return { keyId: INSTANCE_KEY_ID, sealed: sealBytes(instanceKey, bytes, aad(null)) };
      const key = await keyring.current(organizationId);
      return { keyId: key.id, sealed: sealBytes(key.secret, bytes, aad(organizationId)) };
    },
    async open(organizationId, keyId, sealed) {
      if (organizationId === null) return openBytes(instanceKey, sealed, aad(null));
      const key = await keyring.byId(organizationId, keyId);
      return openBytes(key.secret, sealed, aad(organizationId));
    },
  };
}
