/** The steps that encrypt an organization's objects under its current key, then destroy older keys. */
import type { Client } from "@temporalio/client";
import { deleteIntents } from "../../db/upkeep/abandoned-uploads.ts";
import { type Operation, completeOperation, noteProgress } from "../../db/outbox/operations.ts";
import { type CurrentKey, deleteKeysBefore, findCurrentKey } from "../../db/encryption/keys.ts";
import { type Database, type OrganizationRef, inTenant } from "../../db/pool.ts";
import {
  countKeyUsers,
  countNamedObjects,
  exchangeObject,
  listNamedObjects,
} from "../../db/encryption/reencrypt.ts";
import { retireSigningKeyOfOldSeal } from "../../db/receipts/keys.ts";
import { countSecretsOfOldKeys } from "../../db/encryption/webhook-secrets.ts";
import { declareUpload } from "../../db/documents/accept.ts";
import { DomainError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { OperationStep } from "../../domain/work/operation.ts";
import type { Keyring } from "../../storage/keys/keyring.ts";
import { objectName } from "../../storage/object-store.ts";
import type { Storage } from "../../storage/storage.ts";
import { countWorkflowsBefore } from "../../temporal/facts/count-workflows.ts";
import { mapAtMost } from "../../process/concurrency/settle-all.ts";
import { resealWebhookSecrets } from "./reseal-webhook-secrets.ts";

interface ReencryptionDeps {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly storage: Storage;
  readonly temporal: Client;
}

const OBJECTS_A_STEP = 20;
const OBJECTS_AT_ONCE = 4;
const OBJECTS_A_PAGE = 1_000;
/** Other processes may encrypt with the previous key for 60 s, while it is in their caches. */
const CACHES_SECONDS = 65;
const LOOK_AGAIN_SECONDS = 3_600;
const DONE: OperationStep = { done: true, waitSeconds: 0 };
const NEXT: OperationStep = { done: false, waitSeconds: 0 };

interface Progress {
  readonly objects_seen: number;
  /** How many objects there were when it began. */
  readonly objects_seen_total?: number;
  readonly objects_encrypted_anew: number;
  readonly bytes_encrypted_anew: number;
  /** Objects that were missing or damaged before, or were deleted meanwhile. */
  readonly objects_unreadable: number;
  /** The name of the last object that was looked at; null before the first. */
  readonly after: string | null;
  /** True when every object was looked at, and the operation waits for what still needs an older key. */
  readonly has_ended?: boolean;
}

const NOTHING: Progress = {
  objects_seen: 0,
  objects_encrypted_anew: 0,
  bytes_encrypted_anew: 0,
  objects_unreadable: 0,
  after: null,
};

interface Work {
  readonly deps: ReencryptionDeps;
  readonly organization: OrganizationRef;
  readonly operation: Operation;
  readonly current: CurrentKey;
}

/**
 * @returns how long to wait before the next step: until caches have expired, or until what needs an older key
 * may be gone.
 * @see test/workflows/operations/reencryption.own-stack.test.ts
 */
export async function reencryptStep(
  deps: ReencryptionDeps,
  operation: Operation,
  organization: OrganizationRef,
): Promise<OperationStep> {
  // Another process may have rotated the key a moment ago.
  deps.keyring.forget(organization.id);
  const current = await findCurrentKey(deps.db, organization.id);
  const progress: Progress = { ...NOTHING, ...(operation.report as Partial<Progress>) };
  if (current === undefined)
    return complete({ deps, operation, organization }, progress, { keys_destroyed: 0 });
  const work: Work = { deps, organization, operation, current };
  return progress.has_ended === true ? destroyOldKeys(work, progress) : encryptPage(work, progress);
}

async function complete(
  { deps, operation, organization }: Omit<Work, "current">,
  progress: Progress,
  more: Readonly<Record<string, unknown>>,
): Promise<OperationStep> {
  const { after: _after, has_ended: _hasEnded, objects_seen_total: _total, ...counts } = progress;
  await completeOperation(deps.db, operation.id, { organization_id: organization.id, ...counts, ...more });
  return DONE;
}

async function encryptPage(work: Work, progress: Progress): Promise<OperationStep> {
  const { deps, organization, operation, current } = work;
  const names = await inTenant(deps.db, organization, (sql) =>
    listNamedObjects(sql, organization.id, { after: progress.after, limit: OBJECTS_A_STEP }),
  );
  let encryptedObjects = progress.objects_encrypted_anew;
  let encryptedBytes = progress.bytes_encrypted_anew;
  let unreadable = progress.objects_unreadable;
  await mapAtMost(OBJECTS_AT_ONCE, names, async (name) => {
    const size = await encryptAgain(work, name);
    if (size === "unreadable") unreadable += 1;
    else if (size !== undefined) {
      encryptedObjects += 1;
      encryptedBytes += size;
    }
  });
  const total =
    progress.objects_seen_total ??
    (await inTenant(deps.db, organization, (sql) => countNamedObjects(sql, organization.id)));
  const seen: Progress = {
    // A new copy may be listed again under its own name, and must not count beyond the total.
    objects_seen: Math.min(progress.objects_seen + names.length, total),
    objects_seen_total: total,
    objects_encrypted_anew: encryptedObjects,
    bytes_encrypted_anew: encryptedBytes,
    objects_unreadable: unreadable,
    after: names.at(-1) ?? progress.after,
  };
  if (names.length > 0) {
    await noteProgress(deps.db, operation.id, { ...seen });
    return NEXT;
  }
  await leaveOldKeys(work);
  if (operation.parameters["destroys_old_keys"] !== true) return complete(work, seen, { key_id: current.id });
  await noteProgress(deps.db, operation.id, { ...seen, has_ended: true });
  return NEXT;
}

/** Writes a copy under a new name and points all rows to it. @returns its bytes; undefined: nothing done. */
async function encryptAgain(
  { deps, organization, current }: Work,
  from: string,
): Promise<number | "unreadable" | undefined> {
  const { db, storage } = deps;
  const to = objectName(organization.id, newId());
  try {
    if ((await storage.keyId(from)) === current.id) return undefined;
    await declareUpload(db.system, organization.id, to);
    const body = await storage.get({ organizationId: organization.id, name: from });
    const { size } = await storage
      .put({ organizationId: organization.id, name: to, body })
      .finally(() => body.destroy());
    if (await inTenant(db, organization, (sql) => exchangeObject(sql, organization.id, { from, to })))
      return size;
    await storage.delete(to);
    await inTenant(db, organization, (sql) => deleteIntents(sql, [to]));
    return undefined;
  } catch (error) {
    // The file was deleted meanwhile or was already damaged; retrying cannot help.
    if (error instanceof DomainError && (error.code === "not_found" || error.code === "corrupt"))
      return "unreadable";
    throw error;
  }
}

/** Destroys older keys only when nothing is left that they decrypt, wherever encrypted data is kept. */
async function destroyOldKeys(work: Work, progress: Progress): Promise<OperationStep> {
  const { deps, organization, operation, current } = work;
  if (current.older === 0) return complete(work, progress, { key_id: current.id, keys_destroyed: 0 });
  if (current.age_seconds < CACHES_SECONDS)
    return { done: false, waitSeconds: Math.ceil(CACHES_SECONDS - current.age_seconds) };
  const until = new Date(current.created_at.getTime() + CACHES_SECONDS * 1_000);
  // Again, for what other processes sealed with the older key while it was in their caches.
  await leaveOldKeys(work);
  const users = await inTenant(deps.db, organization, async (sql) => ({
    ...(await countKeyUsers(sql, organization.id, { keyId: current.id, until })),
    webhook_secrets: await countSecretsOfOldKeys(sql, organization.id),
  }));
  const workflows = await countWorkflowsBefore(deps.temporal, organization.id, until);
  const isFree = users.uploads + users.kept_answers + users.webhook_secrets + workflows === 0;
  // This reads the header of every object, so it is left out while something else must be waited for.
  const objects = isFree ? await countObjectsOfOldKeys(work) : undefined;
  if (objects !== 0) {
    // Going through all objects again finds those that were written meanwhile.
    const again =
      objects === undefined
        ? { has_ended: true }
        : { after: null, has_ended: false, objects_seen: 0, objects_unreadable: 0 };
    await noteProgress(deps.db, operation.id, {
      ...progress,
      ...again,
      waits_for: { ...users, workflows, objects },
    });
    return { done: false, waitSeconds: LOOK_AGAIN_SECONDS };
  }
  const destroyed = await deleteKeysBefore(deps.db, organization.id, current.id);
  deps.keyring.forget(organization.id);
  return complete(work, progress, { key_id: current.id, keys_destroyed: destroyed });
}

/** Takes what is sealed with older keys off them: secrets of webhooks, and the key that signs receipts. */
async function leaveOldKeys({ deps, organization, current }: Work): Promise<void> {
  await resealWebhookSecrets(deps, organization, current.id);
  await inTenant(deps.db, organization, (sql) => retireSigningKeyOfOldSeal(sql, organization.id, current.id));
}

/** Counts all objects in the store, also those that no row names. */
async function countObjectsOfOldKeys({ deps: { storage }, organization, current }: Work): Promise<number> {
  let count = 0;
  for (let after: string | undefined; ;) {
    const page = await storage.list(organization.id, {
      limit: OBJECTS_A_PAGE,
      ...(after === undefined ? {} : { after }),
    });
    await mapAtMost(OBJECTS_AT_ONCE, page, async ({ name }) => {
      const keyId = await keyIdOf(storage, name);
      if (keyId !== undefined && keyId !== current.id) count += 1;
    });
    after = page.at(-1)?.name;
    if (page.length < OBJECTS_A_PAGE) return count;
  }
}

/** @returns undefined if the object was deleted meanwhile or is damaged: no key is kept for it. */
async function keyIdOf(storage: Storage, name: string): Promise<string | undefined> {
  return storage.keyId(name).catch((error: unknown) => {
    if (error instanceof DomainError && (error.code === "not_found" || error.code === "corrupt"))
      return undefined;
    throw error;
  });
}
