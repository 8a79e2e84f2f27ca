/** `holdfast backup verify` */
import { createHash } from "node:crypto";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { AUDIT_CHAIN_SECRET, verifyAuditChain } from "../db/audit-chain.ts";
import { countFaults } from "../db/integrity-counts.ts";
import { type StoredFile, countStoredFiles, listStoredFiles } from "../db/object-names.ts";
import { listOrganizationKeys } from "../db/organization-keys.ts";
import { type Database, type OrganizationKey, inTenant } from "../db/pool.ts";
import { DomainError } from "../domain/errors.ts";
import { type Keyring, type MasterKey, createKeyring, organizationKeyAad } from "../storage/keyring.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { type Storage, createStorage } from "../storage/storage.ts";
import { openObjectStore } from "../storage/open-store.ts";
import { type Connection, withDatabase } from "./connect.ts";
import { compareObjects } from "./integrity.ts";
import { everyOrganization } from "./organizations.ts";
import { printJson, printLine, printTable } from "./output.ts";
import { startProgress } from "./progress.ts";

interface Options {
  readonly organization?: string;
  readonly quick?: boolean;
  readonly json?: boolean;
}

interface Backup {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly storage: Storage;
  readonly masterKey: MasterKey;
  readonly auditKey: Buffer;
  readonly isQuick: boolean;
  readonly onFiles: (read: number) => void;
}

const FILES_A_PAGE = 200;
const READ_AT_ONCE = 4;

export function addBackupCommand(program: Command): void {
  program
    .command("backup")
    .description("backups")
    .command("verify")
    .description("of a restored database, its objects and the master key: open every key, read every file, recompute every chain; exits with 1 where something is wrong")
    .option("--organization <id>", "this organization alone")
    .option("--quick", "see that files are there, without reading them")
    .option("--json", "print JSON")
    .action(verify);
}

async function verify({ organization, quick = false, json }: Options): Promise<void> {
  const results = await withDatabase(async (connection) => {
    const all = await everyOrganization(connection.db, organization);
    const progress = await fileProgress(connection.db, quick ? [] : all, json);
    const backup = { ...(await openBackup(connection, quick)), onFiles: (read: number) => progress.add(read) };
    const checked: Array<{ organization_id: string; files_read: number; counts: Record<string, number> }> = [];
    for (const one of all) checked.push({ organization_id: one.id, ...(await check(backup, one)) });
    progress.stop();
    return checked;
  });
  const faults = results.flatMap(({ organization_id, counts }) => Object.entries(counts).flatMap(([kind, count]) => (count === 0 ? [] : [[organization_id, kind, String(count)]])));
  const ok = faults.length === 0;
  const read = results.reduce((sum, { files_read }) => sum + files_read, 0);
  if (json) printJson({ ok, organizations: results });
  else if (ok) printLine(`${results.length === 1 ? "1 organization" : `${results.length} organizations`} can be served from this backup; ${read} files were read`);
  else printTable(["ORGANIZATION", "FAULT", "COUNT"], faults);
  if (!ok) process.exitCode = 1;
}

/** Of the files of all organizations; without any there is nothing to show. */
async function fileProgress(db: Database, organizations: readonly OrganizationKey[], json: boolean | undefined): Promise<{ add(files: number): void; stop(): void }> {
  const progress = startProgress("files", { json });
  let [total, done] = [0, 0];
  for (const one of organizations) total += await inTenant(db, one, (sql) => countStoredFiles(sql, one.id));
  return { add: (files) => progress.show({}, (done += files), total), stop: () => progress.stop() };
}

/** @throws where the master key does not open the instance's secrets: nothing else can be told then. */
async function openBackup({ db, config, masterKey, secret, pepper }: Connection, isQuick: boolean): Promise<Omit<Backup, "onFiles">> {
  await pepper();
  const master = await masterKey();
  const store = await openObjectStore(config.storage);
  const refuse = (): never => {
    throw new DomainError("not_found", "The organization has no key.");
  };
  const keyring: Keyring = createKeyring({ master, load: (id) => listOrganizationKeys(db, id), create: refuse });
  return { db, store, storage: createStorage({ store, keyring }), masterKey: master, auditKey: await secret(AUDIT_CHAIN_SECRET), isQuick };
}

async function check(backup: Backup, organization: OrganizationKey): Promise<{ files_read: number; counts: Record<string, number> }> {
  const { db, store, auditKey } = backup;
  const keys = await countUnreadableKeys(backup, organization.id);
  const files = backup.isQuick ? { files_read: 0, files_unreadable: 0 } : await readFiles(backup, organization);
  const { fault } = await verifyAuditChain(db, auditKey, organization.id);
  // Objects newer than the database are left over, and no fault of a backup.
  const { rows_without_object } = await compareObjects(db, store, organization);
  const counts = { keys_unreadable: keys, files_unreadable: files.files_unreadable, audit_chain_broken: fault === null ? 0 : 1, rows_without_object };
  return { files_read: files.files_read, counts: { ...counts, ...(await countFaults(db, organization)) } };
}

async function countUnreadableKeys({ db, masterKey }: Backup, organizationId: string): Promise<number> {
  const keys = await listOrganizationKeys(db, organizationId);
  const opened = await Promise.allSettled(keys.map((key) => masterKey.unwrap(key.wrapped, organizationKeyAad(organizationId, key.id))));
  return opened.filter(({ status }) => status === "rejected").length;
}

/** Decrypts every file that lives and compares it with the checksum of its upload. */
async function readFiles({ db, storage, onFiles }: Backup, organization: OrganizationKey): Promise<{ files_read: number; files_unreadable: number }> {
  let read = 0;
  let unreadable = 0;
  for (let after: string | null = null; ;) {
    const page: StoredFile[] = await inTenant(db, organization, (sql) => listStoredFiles(sql, organization.id, { after, limit: FILES_A_PAGE }));
    for (let from = 0; from < page.length; from += READ_AT_ONCE) {
      const whole = await Promise.all(page.slice(from, from + READ_AT_ONCE).map((file) => isWhole(storage, organization.id, file)));
      read += whole.length;
      onFiles(whole.length);
      unreadable += whole.filter((one) => !one).length;
    }
    if (page.length < FILES_A_PAGE) return { files_read: read, files_unreadable: unreadable };
    after = page.at(-1)!.id;
  }
}

async function isWhole(storage: Storage, organizationId: string, { object_key: name, sha256 }: StoredFile): Promise<boolean> {
  const hash = createHash("sha256");
  try {
    await pipeline(await storage.get({ organizationId, name }), async (pieces: AsyncIterable<Buffer>) => {
      for await (const piece of pieces) hash.update(piece);
    });
  } catch (error) {
    if (error instanceof DomainError && error.class === "hopeless") return false;
    throw error;
  }
  return sha256 === null || hash.digest("hex") === sha256;
}
