/**
 * Seals payloads for Temporal with the organization's key, or with the instance's if a workflow serves
 * several organizations.
 *
 * @see docs/decisions/0022-payloads-bound-to-their-place.md
 */
import type { PayloadSealer } from "../../domain/payloads/sealer.ts";
import { createSecretKey } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { DomainError } from "../../domain/errors.ts";
import { type Keyring, openBytes, sealBytes } from "./keyring.ts";

const INSTANCE_KEY_ID = "instance";
const RETRY_MS = 500;

/** The old form is bound to the organization; the new one also to the key and to what the caller names. */
function aadOf(organizationId: string | null, keyId: string, boundTo: string | undefined): Buffer {
  const organization = organizationId ?? "";
  return Buffer.from(
    boundTo === undefined
      ? `temporal payload\0${organization}`
      : `temporal payload 2\0${organization}\0${keyId}\0${boundTo}`,
  );
}

/** @param instanceSecret 32 bytes. */
export function createPayloadSealer(keyring: Keyring, instanceSecret: Uint8Array): PayloadSealer {
  const instanceKey = createSecretKey(instanceSecret);
  return {
    async seal(organizationId, bytes, boundTo) {
      const key =
        organizationId === null
          ? { id: INSTANCE_KEY_ID, secret: instanceKey }
          : await keyring.current(organizationId);
      return {
        organizationId,
        keyId: key.id,
        sealed: sealBytes(key.secret, bytes, aadOf(organizationId, key.id, boundTo)),
      };
    },
    async open({ organizationId, keyId, sealed }, boundTo) {
      const secret =
        organizationId === null ? instanceKey : (await keyring.byId(organizationId, keyId)).secret;
      return openBytes(secret, sealed, aadOf(organizationId, keyId, boundTo));
    },
  };
}

/**
 * The same for workers. If a failure cannot be sealed, Temporal's SDK ends the whole worker and all work in
 * it. Therefore this waits for keys that cannot be read, for as long as that lasts, and takes the instance's
 * key if the organization has none any more.
 */
export function sealerForWorkers(sealer: PayloadSealer): PayloadSealer {
  return {
    seal: (organizationId, bytes, boundTo) =>
      outlastingOutages(() => sealer.seal(organizationId, bytes, boundTo)).catch((error: unknown) => {
        if (organizationId === null) throw error;
        return sealer.seal(null, bytes, boundTo);
      }),
    open: (sealed, boundTo) => outlastingOutages(() => sealer.open(sealed, boundTo)),
  };
}

/** Calls again every half second while it fails with an outage, however long that lasts. */
async function outlastingOutages<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof DomainError) || !error.passes) throw error;
      await sleep(RETRY_MS);
    }
  }
}
