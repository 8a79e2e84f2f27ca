/** Checks one organization of a backup: its keys, files, audit chain, objects, documents, row counts. */
import { verifyAuditChain } from "../../db/audit/chain-check.ts";
import { listOrganizationKeys } from "../../db/encryption/keys.ts";
import type { OrganizationRef } from "../../db/pool.ts";
import { countOwnRows } from "../../db/transfer/backup-rows.ts";
import { LATE_EVENTS } from "../../db/upkeep/event-integrity.ts";
import { countFaults } from "../../integrity/organization.ts";
import { organizationKeyAad } from "../../storage/keys/keyring.ts";
import { compareObjects } from "../commands/integrity.ts";
import type { Backup } from "./backup.ts";
import { noteAbsent, noteDocuments } from "./documents.ts";
import { readFiles } from "./files.ts";

export interface Checked {
  readonly organization_id: string;
  readonly files_read: number;
  readonly counts: Record<string, number>;
  /** Tables of which the manifest has more rows. */
  readonly fewer_rows: Record<string, { readonly manifest: number; readonly found: number }>;
}

/** What is late in a backup is caught up on when the service starts. */
const LATE: ReadonlySet<string> = new Set([...LATE_EVENTS, "turns_not_adopted"]);

export async function checkOrganization(backup: Backup, organization: OrganizationRef): Promise<Checked> {
  const { db, store, auditKey } = backup;
  const keys = await countUnreadableKeys(backup, organization.id);
  const files = backup.isQuick
    ? { files_read: 0, files_unreadable: 0 }
    : await readFiles(backup, organization);
  const { fault } = await verifyAuditChain(db, auditKey, organization.id);
  // Objects that are newer than the database are left over, which is no fault of a backup.
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
    counts: Object.fromEntries(Object.entries({ ...counts, ...found }).filter(([kind]) => !LATE.has(kind))),
    fewer_rows: await compareRows(backup, organization),
  };
}

async function compareRows(
  { db, manifest }: Backup,
  organization: OrganizationRef,
): Promise<Checked["fewer_rows"]> {
  const saved = manifest?.database.organizations.find(({ id }) => id === organization.id)?.rows;
  if (saved === undefined) return {};
  const found = await countOwnRows(db, organization);
  const fewer = Object.entries(saved).filter(([table, count]) => (found[table] ?? count) < count);
  return Object.fromEntries(
    fewer.map(([table, count]) => [table, { manifest: count, found: found[table] ?? 0 }]),
  );
}

async function countUnreadableKeys({ db, masterKey }: Backup, organizationId: string): Promise<number> {
  const keys = await listOrganizationKeys(db, organizationId);
  const opened = await Promise.allSettled(
    keys.map((key) => masterKey.unwrap(key.wrapped, organizationKeyAad(organizationId, key.id))),
  );
  return opened.filter(({ status }) => status === "rejected").length;
}
