/**
 * Keeps pages that were shown, in this process's memory and sealed with the organization's key: after
 * crypto-shredding nobody reads them. It knows no rights: whoever asks has checked them.
 */
import { LRUCache } from "lru-cache";
import { DomainError } from "../../domain/errors.ts";
import { type Keyring, openBytes, sealBytes } from "../../storage/keys/keyring.ts";
import { cacheLookups } from "../../telemetry/instruments.ts";

export interface PageCache {
  get(organizationId: string, name: string): Promise<Buffer | undefined>;
  set(organizationId: string, name: string, bytes: Uint8Array): Promise<void>;
}

interface Sealed {
  readonly keyId: string;
  readonly bytes: Buffer;
}

const MAX_BYTES = 64 * 1024 * 1024;
const KEPT_MS = 10 * 60_000;

export function createPageCache(keyring: Keyring): PageCache {
  const kept = new LRUCache<string, Sealed>({
    maxSize: MAX_BYTES,
    ttl: KEPT_MS,
    sizeCalculation: ({ bytes }) => bytes.length,
  });
  return {
    async get(organizationId, name) {
      const key = keyOf(organizationId, name);
      const sealed = kept.get(key);
      const bytes = sealed && (await opened(keyring, organizationId, name, sealed));
      if (bytes === undefined) kept.delete(key);
      cacheLookups.inc({ cache: "pages", result: bytes === undefined ? "miss" : "hit" });
      return bytes;
    },
    async set(organizationId, name, bytes) {
      const { id, secret } = await keyring.current(organizationId);
      const sealed = sealBytes(secret, bytes, aadOf(organizationId, name));
      kept.set(keyOf(organizationId, name), { keyId: id, bytes: sealed });
    },
  };
}

const keyOf = (organizationId: string, name: string): string => `${organizationId} ${name}`;

const aadOf = (organizationId: string, name: string): Buffer =>
  Buffer.from(`page\0${organizationId}\0${name}`);

/** Undefined if the key is gone. */
async function opened(
  keyring: Keyring,
  organizationId: string,
  name: string,
  { keyId, bytes }: Sealed,
): Promise<Buffer | undefined> {
  try {
    const { secret } = await keyring.byId(organizationId, keyId);
    return openBytes(secret, bytes, aadOf(organizationId, name));
  } catch (error) {
    if (error instanceof DomainError && error.code === "not_found") return undefined;
    throw error;
  }
}
