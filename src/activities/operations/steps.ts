/** The activity of operations: steps that rotate keys or delete an organization. Each may be repeated. */
import { randomBytes } from "node:crypto";
import type { Client } from "@temporalio/client";
import { rewrapInstanceSecrets } from "../../db/instance/secrets.ts";
import {
  type Operation,
  completeOperation,
  findOperation,
  noteProgress,
} from "../../db/outbox/operations.ts";
import {
  countOrganizationRows,
  deleteOrganizationKeys,
  deleteOrganizationRow,
  deleteOrganizationRows,
} from "../../db/tenancy/closed-organization.ts";
import {
  listKeysNotWrappedBy,
  replaceOrganizationKey,
  rewrapOrganizationKey,
} from "../../db/encryption/keys.ts";
import { type Database, inTenant, type OrganizationRef } from "../../db/pool.ts";
import { retireSigningKeyOfOldSeal } from "../../db/receipts/keys.ts";
import type { MasterKey } from "../../domain/tenancy/wrapped-keys.ts";
import type { OperationInput, OperationStep } from "../../domain/work/operation.ts";
import type { Log } from "../../process/log.ts";
import { type Keyring, organizationKeyAad } from "../../storage/keys/keyring.ts";
import type { Storage } from "../../storage/storage.ts";
import { drillPoint } from "../../telemetry/drill-point.ts";
import { endWorkflowsOf } from "../../temporal/end-workflows.ts";
import { reencryptStep } from "./reencrypt.ts";
import { transferStep } from "./transfer.ts";
import { withHeartbeat } from "../heartbeat.ts";

export interface OperationDeps {
  readonly db: Database;
  readonly log: Log;
  readonly masterKey: MasterKey;
  readonly keyring: Keyring;
  readonly storage: Storage;
  readonly temporal: Client;
  contentSecret(organizationId: string): Promise<Buffer>;
}

const KEYS_A_STEP = 100;
const KEY_BYTES = 32;
const OBJECTS_A_PAGE = 1_000;
const DONE: OperationStep = { done: true, waitSeconds: 0 };
const AGAIN: OperationStep = { done: false, waitSeconds: 1 };

/** What a deletion cannot reach, for its report. */
const LIVES_ON = [
  "Postgres: write-ahead log and backups, until their own retention ends; text of chunks is readable in them",
  "Postgres: space of deleted rows, until vacuum and later writes overwrite it",
  "Temporal: closed histories, until the namespace's retention ends; " +
    "their payloads were encrypted under the deleted key",
  "Object store: earlier generations where the bucket keeps them (versioning, soft delete); " +
    "encrypted under the deleted key",
  "Anchors of the audit log: the organization's id, with the number and hash of its last row",
  "Logs: ids, until their own retention ends",
];

export async function operationStep(
  deps: OperationDeps,
  { operationId }: OperationInput,
): Promise<OperationStep> {
  return withHeartbeat(() => stepOf(deps, operationId));
}

async function stepOf(deps: OperationDeps, operationId: string): Promise<OperationStep> {
  const operation = await findOperation(deps.db, operationId);
  if (operation === undefined || operation.completed_at !== null) return DONE;
  if (operation.wait_seconds > 0) return { done: false, waitSeconds: operation.wait_seconds };
  if (operation.kind === "rotate_master") return rotateMaster(deps, operation);
  const organization = { id: operation.subject ?? "", num: operation.subject_num ?? 0 };
  if (operation.kind === "rotate_organization") return rotateOrganization(deps, operation, organization);
  if (operation.kind === "reencrypt_organization") return reencryptStep(deps, operation, organization);
  return operation.kind === "delete_organization"
    ? deleteOrganization(deps, operation, organization)
    : transferStep(deps, operation, organization);
}

/** Rewraps with the current master key what another has wrapped. Readers notice nothing: keys stay. */
async function rotateMaster(
  { db, masterKey }: OperationDeps,
  { id, report }: Operation,
): Promise<OperationStep> {
  const keys = await listKeysNotWrappedBy(db, masterKey.id, KEYS_A_STEP);
  for (const key of keys) {
    const aad = organizationKeyAad(key.organization_id, key.id);
    const wrapped = await masterKey.wrap(await masterKey.unwrap(key.wrapped, aad), aad);
    await rewrapOrganizationKey(db, { id: key.id, wrapped }, key.master_key_id, masterKey.id);
  }
  const rewrapped = (Number(report["organization_keys"]) || 0) + keys.length;
  await drillPoint("operation: keys wrapped anew, not noted");
  if (keys.length > 0) {
    await noteProgress(db, id, { organization_keys: rewrapped });
    return { done: false, waitSeconds: 0 };
  }
  await completeOperation(db, id, {
    organization_keys: rewrapped,
    instance_secrets: await rewrapInstanceSecrets(db, masterKey),
    master_key_id: masterKey.id,
  });
  return DONE;
}

/** The new key gets the operation's id, so that a repeated step makes no second one. */
async function rotateOrganization(
  { db, masterKey, keyring }: OperationDeps,
  { id }: Operation,
  organization: OrganizationRef,
): Promise<OperationStep> {
  const wrapped = await masterKey.wrap(randomBytes(KEY_BYTES), organizationKeyAad(organization.id, id));
  await replaceOrganizationKey(db, organization.id, masterKey.id, { id, wrapped });
  await inTenant(db, organization, (sql) => retireSigningKeyOfOldSeal(sql, organization.id, id));
  await drillPoint("operation: key replaced, not noted");
  keyring.forget(organization.id);
  await completeOperation(db, id, { organization_id: organization.id, key_id: id });
  return DONE;
}

async function deleteOrganization(
  deps: OperationDeps,
  { id, report }: Operation,
  organization: OrganizationRef,
): Promise<OperationStep> {
  const { db, keyring, storage } = deps;
  const ended = await endWorkflowsOf(deps.temporal, organization.id);
  const objects = await deleteObjects(storage, organization.id);
  const rows = await deleteOrganizationRows(db, organization);
  const sums = {
    workflows_ended: added(report, "workflows_ended", ended),
    objects_deleted: added(report, "objects_deleted", objects),
    rows_deleted: addedRows(report, rows),
  };
  await noteProgress(db, id, sums);
  // Something still ran; the key is deleted only when nothing does.
  if (ended > 0 || objects > 0) return AGAIN;
  const keys = await deleteOrganizationKeys(db, organization);
  keyring.forget(organization.id);
  const readBack = {
    rows: await countOrganizationRows(db, organization),
    objects: (await storage.list(organization.id, { limit: 1 })).length,
    running_workflows: await endWorkflowsOf(deps.temporal, organization.id),
  };
  if (Object.values(readBack).some((left) => left > 0)) return AGAIN;
  await deleteOrganizationRow(db, organization);
  await completeOperation(db, id, {
    organization_id: organization.id,
    ...sums,
    keys_deleted: keys,
    read_back: readBack,
    lives_on: LIVES_ON,
  });
  return DONE;
}

async function deleteObjects(storage: Storage, organizationId: string): Promise<number> {
  for (let deleted = 0; ;) {
    const page = await storage.list(organizationId, { limit: OBJECTS_A_PAGE });
    for (const { name } of page) await storage.delete(name);
    deleted += page.length;
    if (page.length === 0) return deleted;
  }
}

const added = (report: Readonly<Record<string, unknown>>, name: string, count: number): number =>
  (Number(report[name]) || 0) + count;

function addedRows(
  report: Readonly<Record<string, unknown>>,
  rows: Readonly<Record<string, number>>,
): Record<string, number> {
  const before = (report["rows_deleted"] ?? {}) as Readonly<Record<string, number>>;
  return Object.fromEntries(
    [...new Set([...Object.keys(before), ...Object.keys(rows)])].map((table) => [
      table,
      (before[table] ?? 0) + (rows[table] ?? 0),
    ]),
  );
}
