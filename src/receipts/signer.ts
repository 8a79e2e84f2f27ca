/** Signs receipts with the key of the organization, which is made when it is first needed. */
import { LRUCache } from "lru-cache";
import { findSigningKey, insertSigningKey, type SealedReceiptKey } from "../db/receipts/keys.ts";
import type { Database } from "../db/pool.ts";
import { DomainError } from "../domain/errors.ts";
import type { ReceiptSigner, Statement } from "../domain/receipts/statement.ts";
import { shareRunning } from "../process/concurrency/share-running.ts";
import type { Keyring } from "../storage/keys/keyring.ts";
import { openReceiptKey, sealReceiptKey } from "../storage/keys/receipt-key.ts";
import { receiptsIssued } from "../telemetry/instruments.ts";
import { claimsOf, newSalt } from "./claims.ts";
import { createSigningKey, type SigningKey, signClaims, signingKeyOf } from "./signature.ts";

/** After a rotation other processes sign with the key before for so long; what it signed stays valid. */
const CACHE_MS = 60_000;
const CACHE_ORGANIZATIONS = 1_000;
/** A key that cannot be opened is replaced; two processes may do so at the same time. */
const ATTEMPTS = 3;

interface SignerDeps {
  readonly db: Database;
  readonly keyring: Keyring;
}

/**
 * Keeps the keys of at most 1,000 organizations in memory, and looks each up again after a minute; while the
 * database cannot be reached, it signs with those that it has.
 * @example const [{ receipt, salt }] = await createReceiptSigner({ db, keyring }).issue(id, [statement]);
 */
export function createReceiptSigner(deps: SignerDeps): ReceiptSigner {
  const known = new LRUCache<string, KnownKey>({ max: CACHE_ORGANIZATIONS });
  const share = shareRunning<SigningKey>();

  async function keyOf(organizationId: string): Promise<SigningKey> {
    const before = known.get(organizationId);
    if (before !== undefined && before.expiresAt > Date.now()) return before.key;
    try {
      const key = await share(organizationId, () => findOrMakeKey(deps, organizationId));
      known.set(organizationId, { key, expiresAt: Date.now() + CACHE_MS });
      return key;
    } catch (error) {
      if (before !== undefined && error instanceof DomainError && error.passes) return before.key;
      throw error;
    }
  }

  return {
    async issue(organizationId, statements) {
      if (statements.length === 0) return [];
      const key = await keyOf(organizationId);
      const now = new Date();
      const issued = await Promise.all(statements.map((statement) => sign(key, statement, now)));
      receiptsIssued.inc(issued.length);
      return issued;
    },
  };
}

interface KnownKey {
  readonly key: SigningKey;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
}

async function sign(
  key: SigningKey,
  statement: Statement,
  now: Date,
): Promise<{ receipt: string; salt: string }> {
  const salt = newSalt();
  return { receipt: await signClaims(key, claimsOf(statement, salt, now)), salt };
}

async function findOrMakeKey(deps: SignerDeps, organizationId: string): Promise<SigningKey> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const found = await findSigningKey(deps.db, organizationId);
    const key = found === undefined ? undefined : await openKey(deps, organizationId, found);
    if (key !== undefined) return key;
    await makeKey(deps, organizationId, found?.kid);
  }
  throw new DomainError("internal", "The organization has no key for receipts that can be opened.");
}

/** Undefined if it can never be opened again: a version before destroyed the key that seals it. */
async function openKey(
  { keyring }: SignerDeps,
  organizationId: string,
  { kid, ...sealed }: SealedReceiptKey,
): Promise<SigningKey | undefined> {
  try {
    return signingKeyOf(kid, await openReceiptKey(keyring, { organizationId, kid }, sealed));
  } catch (error) {
    if (error instanceof DomainError && (error.code === "not_found" || error.code === "corrupt"))
      return undefined;
    throw error;
  }
}

async function makeKey(
  { db, keyring }: SignerDeps,
  organizationId: string,
  before: string | undefined,
): Promise<void> {
  const { kid, publicKey, privateBytes } = createSigningKey();
  const sealed = await sealReceiptKey(keyring, { organizationId, kid }, privateBytes);
  await insertSigningKey(db, organizationId, { kid, publicKey, ...sealed }, before);
}
