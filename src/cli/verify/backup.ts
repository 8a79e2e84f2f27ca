/** A restored backup as `holdfast backup verify` looks at it, and the list of what is missing in it. */
import { randomBytes } from "node:crypto";
import { PEPPER } from "../../auth/api-keys.ts";
import { AUDIT_CHAIN_SECRET } from "../../db/audit/chain.ts";
import { listOrganizationKeys } from "../../db/encryption/keys.ts";
import { findInstanceSecret } from "../../db/instance/secrets.ts";
import type { Database } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";
import type { MasterKey } from "../../domain/tenancy/wrapped-keys.ts";
import type { Manifest } from "../../schema/files/backup.ts";
import { type Keyring, createKeyring } from "../../storage/keys/keyring.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { openObjectStore } from "../../storage/open-store.ts";
import { type Storage, createStorage } from "../../storage/storage.ts";
import type { Connection } from "../connect.ts";

const AUDIT_KEY_BYTES = 32;
/** How many missing things are listed; the others are counted. */
export const MOST_LISTED = 1_000;

export interface Backup {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly storage: Storage;
  readonly masterKey: MasterKey;
  readonly auditKey: Buffer;
  readonly isQuick: boolean;
  readonly manifest: Manifest | undefined;
  readonly missing: MissingList;
  readonly onFiles: (read: number) => void;
}

/** A part of a document that cannot be served, or not as it was. */
export interface Missing {
  readonly organization_id: string;
  readonly document_id: string | null;
  readonly kind: "file" | "version" | "document";
  /** The id of the file or the run; null if the fault concerns the whole document. */
  readonly id: string | null;
  readonly fault: string;
}

/** The first {@link MOST_LISTED}, and how many more there are. */
export interface MissingList {
  readonly listed: Missing[];
  more: number;
}

export function noteMissing({ missing }: Backup, one: Missing): void {
  if (missing.listed.length < MOST_LISTED) missing.listed.push(one);
  else missing.more += 1;
}

/**
 * Opens the store and the secrets. It makes no missing secret, because the next look would then find the
 * secret in its place.
 * @throws DomainError if the master key does not open the instance's secrets: nothing else can be checked
 * then
 */
export async function openBackup(
  { db, config, masterKey }: Connection,
  isQuick: boolean,
): Promise<Pick<Backup, "db" | "store" | "storage" | "masterKey" | "auditKey" | "isQuick">> {
  const master = await masterKey();
  await findInstanceSecret(db, PEPPER, master);
  // No chain was written with the random key, so every chain counts as broken then.
  const auditKey = (await findInstanceSecret(db, AUDIT_CHAIN_SECRET, master)) ?? randomBytes(AUDIT_KEY_BYTES);
  const store = await openObjectStore(config.storage);
  const refuse = (): never => {
    throw new DomainError("not_found", "The organization has no key.");
  };
  const keyring: Keyring = createKeyring({
    master,
    load: (id) => listOrganizationKeys(db, id),
    create: refuse,
  });
  return { db, store, storage: createStorage({ store, keyring }), masterKey: master, auditKey, isQuick };
}
