/** `holdfast backup verify` */
import { createHash, randomBytes } from "node:crypto";
import { pipeline } from "node:stream/promises";
import { PEPPER } from "../../auth/api-keys.ts";
import { readManifest } from "../../backup/manifest.ts";
import type { Manifest } from "../../schema/files/backup.ts";
import { AUDIT_CHAIN_SECRET, verifyAuditChain } from "../../db/audit/chain.ts";
import { countInstanceRows, countOwnRows } from "../../db/transfer/backup-rows.ts";
import { countFaults } from "../../db/upkeep/organization-integrity.ts";
import { judge, listLiveDocuments, readDocumentEvidence } from "../../db/upkeep/document-integrity.ts";
import {
  type StoredFile,
  countStoredFiles,
  findOwnersOfObjects,
  listStoredFiles,
} from "../../db/files/object-names.ts";
import { findInstanceSecret, tryInstanceSecrets } from "../../db/instance/secrets.ts";
import { listOrganizationKeys } from "../../db/encryption/keys.ts";
import { type Database, type OrganizationKey, inTenant } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";
import {
  type Keyring,
  type MasterKey,
  createKeyring,
  organizationKeyAad,
} from "../../storage/keys/keyring.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { openObjectStore } from "../../storage/open-store.ts";
import { type Storage, createStorage } from "../../storage/storage.ts";
import { type Connection, withDatabase } from "../connect.ts";
import { compareObjects } from "./integrity.ts";
import { everyOrganization } from "../organizations.ts";
import { printJson, printLine, printTable } from "../output.ts";
import { startProgress } from "../progress.ts";

interface Options {
  readonly organization?: string;
  readonly manifest?: string;
  readonly allowEmpty?: boolean;
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
  readonly manifest: Manifest | undefined;
  readonly missing: MissingList;
  readonly onFiles: (read: number) => void;
}

/** One thing of a document that cannot be served, or not as it was. */
interface Missing {
  readonly organization_id: string;
  readonly document_id: string | null;
  readonly kind: "file" | "version" | "document";
  /** Of the raw file or of the run; null where it is about the document. */
  readonly id: string | null;
  readonly fault: string;
}

/** The first so many; the rest is counted. */
interface MissingList {
  readonly listed: Missing[];
  more: number;
}

interface Checked {
  readonly organization_id: string;
  readonly files_read: number;
  readonly counts: Record<string, number>;
  /** By table, where the manifest has more. */
  readonly fewer_rows: Record<string, { readonly manifest: number; readonly found: number }>;
}

const FILES_A_PAGE = 200;
const DOCUMENTS_A_PAGE = 500;
const READ_AT_ONCE = 4;
const MOST_LISTED = 1_000;
const LINES_SHOWN = 20;
const AUDIT_KEY_BYTES = 32;

export async function verify(options: Options): Promise<void> {
  const { organization, quick = false, json, allowEmpty = false } = options;
  const manifest = options.manifest === undefined ? undefined : await readManifest(options.manifest);
  const missing: MissingList = { listed: [], more: 0 };
  const { results, ofInstance } = await withDatabase(async (connection) => {
    const all = await everyOrganization(connection.db, organization);
    const ofInstance = [
      ...(await instanceRowFaults(connection.db, manifest)),
      ...(all.length === 0 ? [] : await secretFaults(connection)),
    ];
    const progress = await fileProgress(connection.db, quick ? [] : all, json);
    try {
      const backup = {
        ...(await openBackup(connection, quick)),
        manifest,
        missing,
        onFiles: (read: number) => progress.add(read),
      };
      const checked: Checked[] = [];
      for (const one of all) checked.push(await check(backup, one));
      return { results: checked, ofInstance };
    } finally {
      progress.stop();
    }
  });
  const faults = [
    ...ofInstance,
    ...instanceFaults(results, { organization, manifest, allowEmpty }),
    ...results.flatMap(faultsOf),
  ];
  const ok = faults.length === 0;
  if (json)
    printJson({
      ok,
      organizations: results,
      faults: faults.map(([id, fault, count]) => ({ organization_id: id, fault, count })),
      missing: missing.listed,
      missing_more: missing.more,
    });
  else if (ok)
    printLine(
      `${results.length === 1 ? "1 organization" : `${results.length} organizations`} can be served from this backup; ${results.reduce((sum, { files_read }) => sum + files_read, 0)} files were read`,
    );
  else printFaults(faults, missing);
  if (!ok) process.exitCode = 1;
}

type FaultLine = readonly [organization: string | null, fault: string, count: number];

/** What no organization that is there can show: that there is none, or that one is gone. */
function instanceFaults(
  results: readonly Checked[],
  {
    organization,
    manifest,
    allowEmpty,
  }: {
    readonly organization: string | undefined;
    readonly manifest: Manifest | undefined;
    readonly allowEmpty: boolean;
  },
): FaultLine[] {
  const there = new Set(results.map(({ organization_id }) => organization_id));
  const wanted = (manifest?.database.organizations ?? []).filter(
    ({ id, is_deleted }) => !is_deleted && (organization === undefined || id === organization.toLowerCase()),
  );
  const gone = wanted
    .filter(({ id }) => !there.has(id))
    .map(({ id }): FaultLine => [id, "organization_missing", 1]);
  const mayBeEmpty = allowEmpty || (manifest !== undefined && wanted.length === 0);
  return results.length === 0 && !mayBeEmpty && gone.length === 0 ? [[null, "no_organizations", 1]] : gone;
}

/** What the manifest has more of that belongs to no organization: without the secrets among it no API key works. */
async function instanceRowFaults(db: Database, manifest: Manifest | undefined): Promise<FaultLine[]> {
  if (manifest === undefined) return [];
  return Object.entries(await countInstanceRows(db)).flatMap(([table, found]): FaultLine[] => {
    const saved = manifest.database.rows[table] ?? 0;
    return found < saved ? [[null, `rows_missing ${table}`, saved - found]] : [];
  });
}

/** With a new pepper no API key of the organizations works; every instance that has one made it before. */
async function secretFaults({ db, masterKey }: Connection): Promise<FaultLine[]> {
  const { opened, closed } = await tryInstanceSecrets(db, await masterKey());
  return [...opened, ...closed].includes(PEPPER) ? [] : [[null, `secret_missing ${PEPPER}`, 1]];
}

function faultsOf({ organization_id, counts, fewer_rows }: Checked): FaultLine[] {
  const rows = Object.entries(fewer_rows).map(([table, { manifest, found }]): FaultLine => [
    organization_id,
    `rows_missing ${table}`,
    manifest - found,
  ]);
  return [
    ...Object.entries(counts).flatMap(([kind, count]): FaultLine[] =>
      count === 0 ? [] : [[organization_id, kind, count]],
    ),
    ...rows,
  ];
}

function printFaults(faults: readonly FaultLine[], { listed, more }: MissingList): void {
  printTable(
    ["ORGANIZATION", "FAULT", "COUNT"],
    faults.map(([id, fault, count]) => [id ?? "-", fault, String(count)]),
  );
  if (faults.some(([, fault]) => fault === "no_organizations"))
    printLine(
      "There is no organization: nothing was restored into this database. Where that is right, say --allow-empty.",
    );
  if (listed.length === 0) return;
  const shown = listed.slice(0, LINES_SHOWN);
  printTable(
    ["DOCUMENT", "WHAT", "ID", "FAULT"],
    shown.map(({ document_id, kind, id, fault }) => [document_id ?? "-", kind, id ?? "-", fault]),
  );
  const left = listed.length - shown.length + more;
  if (left > 0) printLine(`and ${left} more; --json lists the first ${MOST_LISTED}`);
}

/** Of the files of all organizations; without any there is nothing to show. */
async function fileProgress(
  db: Database,
  organizations: readonly OrganizationKey[],
  json: boolean | undefined,
): Promise<{ add(files: number): void; stop(): void }> {
  const progress = startProgress("files", { json });
  let [total, done] = [0, 0];
  for (const one of organizations) total += await inTenant(db, one, (sql) => countStoredFiles(sql, one.id));
  return { add: (files) => progress.show({}, (done += files), total), stop: () => progress.stop() };
}

/**
 * Makes no secret that is missing: the next look would find it in its place. @throws where the master key does not open the instance's secrets: nothing
 * else can be told then.
 */
async function openBackup(
  { db, config, masterKey }: Connection,
  isQuick: boolean,
): Promise<Pick<Backup, "db" | "store" | "storage" | "masterKey" | "auditKey" | "isQuick">> {
  const master = await masterKey();
  await findInstanceSecret(db, PEPPER, master);
  // No entry of a chain was written with a key that is made here.
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

async function check(backup: Backup, organization: OrganizationKey): Promise<Checked> {
  const { db, store, auditKey } = backup;
  const keys = await countUnreadableKeys(backup, organization.id);
  const files = backup.isQuick
    ? { files_read: 0, files_unreadable: 0 }
    : await readFiles(backup, organization);
  const { fault } = await verifyAuditChain(db, auditKey, organization.id);
  // Objects newer than the database are left over, and no fault of a backup.
  const { rows_without_object } = await compareObjects(db, store, organization, (names) =>
    noteAbsent(backup, organization, names),
  );
  const found = await countFaults(db, organization);
  await noteDocuments(
    backup,
    organization,
    found.published_incomplete + found.published_hidden + found.documents_without_file,
  );
  const counts = {
    keys_unreadable: keys,
    files_unreadable: files.files_unreadable,
    audit_chain_broken: fault === null ? 0 : 1,
    rows_without_object,
  };
  return {
    organization_id: organization.id,
    files_read: files.files_read,
    counts: { ...counts, ...found },
    fewer_rows: await compareRows(backup, organization),
  };
}

async function compareRows(
  { db, manifest }: Backup,
  organization: OrganizationKey,
): Promise<Checked["fewer_rows"]> {
  const saved = manifest?.database.organizations.find(({ id }) => id === organization.id)?.rows;
  if (saved === undefined) return {};
  const found = await countOwnRows(db, organization);
  const fewer = Object.entries(saved).filter(([table, count]) => (found[table] ?? count) < count);
  return Object.fromEntries(
    fewer.map(([table, count]) => [table, { manifest: count, found: found[table] ?? 0 }]),
  );
}

function note({ missing }: Backup, one: Missing): void {
  if (missing.listed.length < MOST_LISTED) missing.listed.push(one);
  else missing.more += 1;
}

async function noteAbsent(
  backup: Backup,
  organization: OrganizationKey,
  names: readonly string[],
): Promise<void> {
  const owners = await inTenant(backup.db, organization, (sql) => findOwnersOfObjects(sql, names));
  for (const { document_id, kind, id } of owners)
    note(backup, { organization_id: organization.id, document_id, kind, id, fault: "object_missing" });
}

/** Looks for documents with a fault until as many are found as were counted: the counts name none. */
async function noteDocuments(backup: Backup, organization: OrganizationKey, counted: number): Promise<void> {
  let left = counted;
  for (let after: string | null = null; left > 0;) {
    const page: string[] = await inTenant(backup.db, organization, (sql) =>
      listLiveDocuments(sql, after, DOCUMENTS_A_PAGE),
    );
    for (const id of page) if (left > 0 && (await noteDocument(backup, organization, id))) left -= 1;
    if (page.length < DOCUMENTS_A_PAGE) return;
    after = page.at(-1)!;
  }
}

const OF_VERSIONS = new Set([
  "published_run_missing",
  "chunks_incomplete",
  "embeddings_incomplete",
  "index_incomplete",
  "published_hidden",
  "file_missing",
]);

/** @returns whether it has a fault. */
async function noteDocument(backup: Backup, organization: OrganizationKey, id: string): Promise<boolean> {
  const evidence = await inTenant(
    backup.db,
    organization,
    (sql) => readDocumentEvidence(sql, id),
    "isolation level repeatable read",
  );
  const found = evidence === undefined ? [] : judge(evidence).filter(({ code }) => OF_VERSIONS.has(code));
  for (const { code, pipeline_run_id } of found)
    note(backup, {
      organization_id: organization.id,
      document_id: id,
      kind: "document",
      id: pipeline_run_id,
      fault: code,
    });
  return found.length > 0;
}

async function countUnreadableKeys({ db, masterKey }: Backup, organizationId: string): Promise<number> {
  const keys = await listOrganizationKeys(db, organizationId);
  const opened = await Promise.allSettled(
    keys.map((key) => masterKey.unwrap(key.wrapped, organizationKeyAad(organizationId, key.id))),
  );
  return opened.filter(({ status }) => status === "rejected").length;
}

/** Decrypts every file that lives and compares it with the checksum of its upload. */
async function readFiles(
  backup: Backup,
  organization: OrganizationKey,
): Promise<{ files_read: number; files_unreadable: number }> {
  const { db, storage, onFiles } = backup;
  let read = 0;
  let unreadable = 0;
  for (let after: string | null = null; ;) {
    const page: StoredFile[] = await inTenant(db, organization, (sql) =>
      listStoredFiles(sql, organization.id, { after, limit: FILES_A_PAGE }),
    );
    for (let from = 0; from < page.length; from += READ_AT_ONCE) {
      const some = page.slice(from, from + READ_AT_ONCE);
      const faults = await Promise.all(some.map((file) => faultOfFile(storage, organization.id, file)));
      read += some.length;
      onFiles(some.length);
      unreadable += faults.filter((fault) => fault !== undefined).length;
      const other = some.filter((_, index) => faults[index] === "unreadable");
      other.forEach(({ id, document_id }) =>
        note(backup, {
          organization_id: organization.id,
          document_id,
          kind: "file",
          id,
          fault: "file_unreadable",
        }),
      );
    }
    if (page.length < FILES_A_PAGE) return { files_read: read, files_unreadable: unreadable };
    after = page.at(-1)!.id;
  }
}

/** One that is not there is told by the comparison of objects. */
async function faultOfFile(
  storage: Storage,
  organizationId: string,
  { object_key: name, sha256 }: StoredFile,
): Promise<"absent" | "unreadable" | undefined> {
  const hash = createHash("sha256");
  try {
    await pipeline(await storage.get({ organizationId, name }), async (pieces: AsyncIterable<Buffer>) => {
      for await (const piece of pieces) hash.update(piece);
    });
  } catch (error) {
    if (error instanceof DomainError && error.class === "hopeless")
      return error.code === "not_found" ? "absent" : "unreadable";
    throw error;
  }
  return sha256 === null || hash.digest("hex") === sha256 ? undefined : "unreadable";
}
