/** How payloads for Temporal are sealed: with the organization's key, or the instance's where a workflow serves several organizations. */
import { createSecretKey } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { errorClass } from "../domain/errors.ts";
import { type Keyring, openBytes, sealBytes } from "./keyring.ts";

interface SealedPayload {
  /** Whose key it is; null for the instance's. */
  readonly organizationId: string | null;
  readonly keyId: string;
  readonly sealed: Buffer;
}

interface PayloadSealer {
  seal(organizationId: string | null, bytes: Uint8Array): Promise<SealedPayload>;
  open(organizationId: string | null, keyId: string, sealed: Uint8Array): Promise<Buffer>;
}

const INSTANCE_KEY_ID = "instance";
const RETRY_MS = 500;

/** `instanceSecret` has 32 bytes. Opening throws `not_found` for a deleted key and `corrupt` for a changed bit; both throw an outage where keys cannot be read. */
export function createPayloadSealer(keyring: Keyring, instanceSecret: Uint8Array): PayloadSealer {
  const instanceKey = createSecretKey(instanceSecret);
  const aad = (organizationId: string | null): Buffer => Buffer.from(`temporal payload\0${organizationId ?? ""}`);
  return {
    async seal(organizationId, bytes) {
      if (organizationId === null) return { organizationId, keyId: INSTANCE_KEY_ID, sealed: sealBytes(instanceKey, bytes, aad(null)) };
      const key = await keyring.current(organizationId);
      return { organizationId, keyId: key.id, sealed: sealBytes(key.secret, bytes, aad(organizationId)) };
    },
    async open(organizationId, keyId, sealed) {
      if (organizationId === null) return openBytes(instanceKey, sealed, aad(null));
      const key = await keyring.byId(organizationId, keyId);
      return openBytes(key.secret, sealed, aad(organizationId));
    },
  };
}

/**
 * The same for workers, whose SDK ends a whole worker, and everybody's work in it, where a failure cannot be sealed: waits for keys that
 * cannot be read now, for as long as that lasts, and takes the instance's key where the organization has none any more.
 */
export function sealerForWorkers(sealer: PayloadSealer): PayloadSealer {
  return {
    seal: (organizationId, bytes) =>
      outlastingOutages(() => sealer.seal(organizationId, bytes)).catch((error: unknown) => {
        if (organizationId === null) throw error;
        return sealer.seal(null, bytes);
      }),
    open: (organizationId, keyId, sealed) => outlastingOutages(() => sealer.open(organizationId, keyId, sealed)),
  };
}

async function outlastingOutages<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (errorClass(error) !== "outage") throw error;
      await sleep(RETRY_MS);
    }
  }
}
