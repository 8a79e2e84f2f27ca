/** Makes organization keys, wraps them with the master key, and keeps unwrapped ones for a minute. */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  randomBytes,
  randomUUID,
} from "node:crypto";
import type { KeyObject } from "node:crypto";
import { LRUCache } from "lru-cache";
import { DomainError } from "../../domain/errors.ts";
import type { MasterKey, WrappedKey } from "../../domain/tenancy/wrapped-keys.ts";

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CACHE_MS = 60_000;
const CACHE_ORGANIZATIONS = 1_000;

export interface OrganizationKey {
  /** UUID in lower case. */
  readonly id: string;
  /** 256 bits, as a KeyObject, which shows nothing of them in a log. */
  readonly secret: KeyObject;
}

export interface Keyring {
  /** The key for new objects; the first use makes one. */
  current(organizationId: string): Promise<OrganizationKey>;
  /** The key of an existing object. @throws `not_found` if it was deleted: the object is unreadable. */
  byId(organizationId: string, keyId: string): Promise<OrganizationKey>;
  /** Drops the organization's keys from this process's memory; others keep them up to 60 s longer. */
  forget(organizationId: string): void;
}

interface KeyringParts {
  readonly master: MasterKey;
  /** All keys of the organization, in any order. */
  readonly load: (organizationId: string) => Promise<readonly WrappedKey[]>;
  /** Stores the organization's first key as its current one. Does nothing if another process was first. */
  readonly create: (
    organizationId: string,
    key: { readonly id: string; readonly wrapped: Buffer },
  ) => Promise<void>;
}

/** AES-256-GCM: random nonce, ciphertext, tag. Random nonces make a 32-byte key good for 2^32 calls. */
export function sealBytes(key: KeyObject, bytes: Uint8Array, aad: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES }).setAAD(aad);
  return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

/** The bytes that {@link sealBytes} was given. @throws `corrupt` for a wrong key or aad, or a changed bit. */
export function openBytes(key: KeyObject, sealed: Uint8Array, aad: Uint8Array): Buffer {
  if (sealed.byteLength < NONCE_BYTES + TAG_BYTES) throw corruptKey();
  const end = sealed.byteLength - TAG_BYTES;
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(aad)
    .setAuthTag(sealed.subarray(end));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, end)), decipher.final()]);
  } catch (error) {
    throw corruptKey(error);
  }
}

function corruptKey(cause?: unknown): DomainError {
  return new DomainError("corrupt", "A wrapped key failed its integrity check.", { cause });
}

/** A master key of exactly 32 random bytes, in this process's memory. */
export function localMasterKey(bytes: Uint8Array): MasterKey {
  if (bytes.byteLength !== KEY_BYTES)
    throw new DomainError("internal", `A master key has ${KEY_BYTES} bytes.`);
  const key = createSecretKey(bytes);
  const fingerprint = createHash("sha256")
    .update("holdfast master key id")
    .update(bytes)
    .digest("hex")
    .slice(0, 16);
  const id = `local:${fingerprint}`;
  return {
    id,
    opens: (other) => other === id,
    wrap: async (plain, aad) => sealBytes(key, plain, aad),
    unwrap: async (wrapped, aad) => openBytes(key, wrapped, aad),
  };
}

/** A key that wraps with `current` and unwraps with either, until everything is wrapped with the new. */
export function withPreviousKey(current: MasterKey, previous: MasterKey): MasterKey {
  return {
    id: current.id,
    opens: (id) => current.opens(id) || previous.opens(id),
    wrap: (bytes, aad) => current.wrap(bytes, aad),
    unwrap: (wrapped, aad) =>
      current.unwrap(wrapped, aad).catch((error: unknown) => {
        if (error instanceof DomainError && error.code === "corrupt") return previous.unwrap(wrapped, aad);
        throw error;
      }),
  };
}

/** Binds a wrapped organization key to its row, so that rows cannot be swapped. */
export function organizationKeyAad(organizationId: string, keyId: string): Buffer {
  return Buffer.from(`holdfast organization key\0${organizationId}\0${keyId}`);
}

interface CacheEntry {
  readonly expiresAt: number;
  readonly rows: Promise<readonly WrappedKey[]>;
  readonly unwrapped: Map<string, Promise<OrganizationKey>>;
}

/**
 * Keeps the unwrapped keys of at most 1,000 organizations, each for at most 60 s. Simultaneous callers share
 * one look-up.
 *
 * @example `test/storage/keys/keyring.test.ts`
 */
export function createKeyring({ master, load, create }: KeyringParts): Keyring {
  const cache = new LRUCache<string, CacheEntry>({ max: CACHE_ORGANIZATIONS });

  async function loadOrCreate(organizationId: string): Promise<readonly WrappedKey[]> {
    const rows = await load(organizationId);
    if (rows.some((row) => row.isCurrent)) return rows;
    const id = randomUUID();
    await create(organizationId, {
      id,
      wrapped: await master.wrap(randomBytes(KEY_BYTES), organizationKeyAad(organizationId, id)),
    });
    return load(organizationId);
  }

  function lookUp(organizationId: string, read: typeof load): CacheEntry {
    const known = cache.get(organizationId);
    if (known !== undefined && known.expiresAt > Date.now()) return known;
    const entry: CacheEntry = {
      expiresAt: Date.now() + CACHE_MS,
      rows: read(organizationId),
      unwrapped: new Map(),
    };
    cache.set(organizationId, entry);
    entry.rows.catch(() => drop(organizationId, entry));
    return entry;
  }

  function drop(organizationId: string, entry: CacheEntry): void {
    if (cache.peek(organizationId) === entry) cache.delete(organizationId);
  }

  function unwrap(organizationId: string, entry: CacheEntry, row: WrappedKey): Promise<OrganizationKey> {
    const known = entry.unwrapped.get(row.id);
    if (known !== undefined) return known;
    const id = row.id.toLowerCase();
    const key = master
      .unwrap(row.wrapped, organizationKeyAad(organizationId, id))
      .then((bytes): OrganizationKey => ({ id, secret: createSecretKey(bytes) }));
    entry.unwrapped.set(row.id, key);
    key.catch(() => entry.unwrapped.delete(row.id));
    return key;
  }

  async function find(
    organizationId: string,
    read: typeof load,
    matches: (row: WrappedKey) => boolean,
  ): Promise<OrganizationKey | undefined> {
    const entry = lookUp(organizationId, read);
    const row = (await entry.rows).find(matches);
    if (row !== undefined) return unwrap(organizationId, entry, row);
    // The rows in the cache may be older than the key.
    drop(organizationId, entry);
    const fresh = lookUp(organizationId, read);
    const found = (await fresh.rows).find(matches);
    return found === undefined ? undefined : unwrap(organizationId, fresh, found);
  }

  return {
    async current(organizationId) {
      const key = await find(organizationId, loadOrCreate, (row) => row.isCurrent);
      if (key === undefined) throw new DomainError("internal", "The organization has no current key.");
      return key;
    },
    async byId(organizationId, keyId) {
      const key = await find(organizationId, load, (row) => row.id.toLowerCase() === keyId);
      if (key === undefined) throw new DomainError("not_found", "The key of this object no longer exists.");
      return key;
    },
    forget(organizationId) {
      cache.delete(organizationId);
    },
  };
}

/** Binds a wrapped key to its purpose: the encryption of an archive. */
export const ARCHIVE_KEY_AAD: Uint8Array = Buffer.from("holdfast archive key");
