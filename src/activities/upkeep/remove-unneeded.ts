/** The steps of the maintenance workflow: bounded transactions until nothing is due; may be repeated. */
import { AUDIT_CHAIN_SECRET, chainAuditRows, deleteOldAuditRows } from "../../db/audit/chain.ts";
import { loadInstanceSecret } from "../../db/instance/secrets.ts";
import { findOrphanRuns } from "../../db/upkeep/organization-integrity.ts";
import { deleteIntents, lockExpiredIntents } from "../../db/upkeep/abandoned-uploads.ts";
import {
  type RunOfSpace,
  deleteOldRuns,
  deleteUnusedEmbeddings,
  findHiddenRuns,
  findSpentObjects,
  findSpentRuns,
  foldAllStatistics,
  markObjectsPurged,
  purgeHiddenRun,
  purgeSpentRun,
} from "../../db/upkeep/unneeded.ts";
import { findUnnamed } from "../../db/files/object-names.ts";
import { type Database, type OrganizationRef, type Sql, inTenant } from "../../db/pool.ts";
import { deleteText } from "../../db/deletions/purge.ts";
import { listOrganizationsAfter } from "../../db/tenancy/organizations.ts";
import { deleteOldDeliveries, deleteOldEvents } from "../../db/upkeep/expired-events.ts";
import { deleteExpired, requeueStrayRuns } from "../../db/upkeep/retention.ts";
import { hideRun } from "../../db/search/hidden.ts";
import { findSegmentsToPurge } from "../../db/search/index/due-segments.ts";
import { purgeSegment } from "../../search/index/segments.ts";
import type { MasterKey } from "../../domain/tenancy/wrapped-keys.ts";
import {
  KEPT_AUDIT_DAYS,
  type MaintenanceCounts,
  ORGANIZATIONS_A_PAGE,
  type OrganizationInput,
  ROWS_A_PURGE,
  addCounts,
} from "../../domain/work/maintenance-rounds.ts";
import type { Log } from "../../process/log.ts";
import type { Storage } from "../../storage/storage.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { drillPoint } from "../../telemetry/drill-point.ts";
import { anchorToday } from "./anchor.ts";
import { expireFiles, expireStores } from "./expire-stores.ts";
import { withHeartbeat } from "../heartbeat.ts";

export interface MaintenanceDeps {
  readonly db: Database;
  readonly log: Log;
  readonly storage: Storage;
  readonly store: ObjectStore;
  readonly masterKey: MasterKey;
  /** For how many days events and settled deliveries are kept. */
  readonly eventRetentionDays: number;
}

const RUNS_A_STEP = 100;
const OBJECTS_A_STEP = 200;
const ROWS_A_CHAINING = 1_000;
const OBJECTS_A_PAGE = 1_000;
/** Each step reads all chunks of the organization once, so it takes many embeddings at a time. */
const EMBEDDINGS_A_STEP = 20_000;
/** Few, because their objects are deleted while the rows are locked. */
const INTENTS_A_STEP = 10;
const ORPHAN_AGE_MS = 24 * 60 * 60_000;

/** The next page of organizations, whose numbers are greater than `after`. */
export async function listOrganizations(deps: MaintenanceDeps, after: number): Promise<OrganizationRef[]> {
  return withHeartbeat(() => listOrganizationsAfter(deps.db.system, after, ORGANIZATIONS_A_PAGE));
}

/** Maintenance across organizations: expired bookkeeping rows, and runs that no workflow has. */
export async function maintainInstance(deps: MaintenanceDeps): Promise<MaintenanceCounts> {
  return withHeartbeat(async () => {
    let counts: MaintenanceCounts = { requeued_runs: await requeueStrayRuns(deps.db.system) };
    await drillPoint("maintenance: stray runs queued");
    counts = addCounts(counts, { unfinished_objects: await deps.storage.removeUnfinished(ORPHAN_AGE_MS) });
    const errors: unknown[] = [];
    for (let hasMore = true; hasMore && errors.length === 0;) {
      const deleted = await deleteExpired(deps.db);
      counts = addCounts(counts, deleted.counts);
      hasMore = deleted.hasMore;
      errors.push(...deleted.errors);
    }
    for (const err of errors) deps.log.error({ err }, "expired rows could not be deleted");
    const days = deps.eventRetentionDays;
    counts = addCounts(counts, {
      webhook_deliveries: await untilNone(
        () => deleteOldDeliveries(deps.db, days, ROWS_A_PURGE),
        ROWS_A_PURGE,
      ),
    });
    // Last, so that an outage of the store delays nothing else.
    counts = addCounts(counts, { audit_anchors: await anchorToday(deps, new Date()) });
    if (errors.length > 0) throw errors[0];
    return counts;
  });
}

/**
 * Does everything that is due in one organization.
 * @returns how much was done, by kind of work.
 * @see test/workflows/upkeep/maintenance.own-stack.test.ts
 */
export async function maintainOrganization(
  deps: MaintenanceDeps,
  { organization, isThorough }: OrganizationInput,
): Promise<MaintenanceCounts> {
  return withHeartbeat(async () => {
    const tenant = <T>(work: (sql: Sql) => Promise<T>): Promise<T> => inTenant(deps.db, organization, work);
    let counts: MaintenanceCounts = {};
    const add = (kind: string, count: number): void => {
      counts = addCounts(counts, { [kind]: count });
    };
    add("audit_rows_chained", await chainRows(deps, organization.id));
    add(
      "audit_log",
      await untilNone(
        () => deleteOldAuditRows(deps.db, organization.id, KEPT_AUDIT_DAYS, ROWS_A_PURGE),
        ROWS_A_PURGE,
      ),
    );
    add(
      "events",
      await untilNone(
        () => deleteOldEvents(deps.db, organization.id, deps.eventRetentionDays, ROWS_A_PURGE),
        ROWS_A_PURGE,
      ),
    );
    for (const [kind, expire] of EXPIRIES)
      add(kind, await untilNone(() => tenant((sql) => expire(sql, organization)), 1));
    if (isThorough) add("orphan_runs", await removeOrphans(deps, organization));
    add("purged_segments", await purgeSegments(tenant));
    add("hidden_runs", await purgeRuns(tenant, findHiddenRuns, purgeHiddenRun));
    await drillPoint("maintenance: hidden entries gone, text there");
    add("spent_runs", await purgeRuns(tenant, findSpentRuns, purgeSpentRun));
    await drillPoint("maintenance: text gone, objects there");
    add("objects", await untilNone(() => purgeSpentObjects(deps, tenant), OBJECTS_A_STEP));
    add("old_runs", await untilNone(() => tenant((sql) => deleteOldRuns(sql, RUNS_A_STEP)), RUNS_A_STEP));
    add("intents", await untilNone(() => purgeIntents(deps, tenant), INTENTS_A_STEP));
    add("folded_spaces", await tenant((sql) => foldAllStatistics(sql, organization.num)));
    if (isThorough) {
      add("embeddings", await purgeEmbeddings(organization.id, tenant));
      add("orphan_objects", await purgeUnnamedObjects(deps, organization.id, tenant));
    }
    if (Object.keys(counts).length > 0)
      deps.log.info(
        { organization_id: organization.id, ...counts },
        "maintenance removed data that was no longer needed",
      );
    return counts;
  });
}

/** Before what they leave is removed. */
const EXPIRIES = [
  ["expired_stores", expireStores],
  ["expired_files", expireFiles],
] as const;

async function chainRows({ db, masterKey }: MaintenanceDeps, organizationId: string): Promise<number> {
  const secret = await loadInstanceSecret(db, AUDIT_CHAIN_SECRET, masterKey);
  return untilNone(() => chainAuditRows(db, secret, organizationId, ROWS_A_CHAINING), ROWS_A_CHAINING);
}

type Tenant = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;

/** Repeats `step` until it does less than `most`. @returns how much it did in total. */
async function untilNone(step: () => Promise<number>, most: number): Promise<number> {
  let total = 0;
  for (;;) {
    const done = await step();
    total += done;
    if (done < most) return total;
  }
}

async function purgeRuns(
  tenant: Tenant,
  find: (sql: Sql, limit: number) => Promise<RunOfSpace[]>,
  purge: (sql: Sql, run: RunOfSpace) => Promise<boolean>,
): Promise<number> {
  return untilNone(async () => {
    const runs = await tenant((sql) => find(sql, RUNS_A_STEP));
    for (const run of runs) await untilDone(() => tenant((sql) => purge(sql, run)));
    return runs.length;
  }, RUNS_A_STEP);
}

/** Leaves a segment that another process has locked to the next round. */
async function purgeSegments(tenant: Tenant): Promise<number> {
  const segments = await tenant((sql) => findSegmentsToPurge(sql, "any"));
  for (const segment of segments) await tenant((sql) => purgeSegment(sql, segment));
  return segments.length;
}

async function purgeSpentObjects(deps: MaintenanceDeps, tenant: Tenant): Promise<number> {
  const names = await tenant((sql) => findSpentObjects(sql, OBJECTS_A_STEP));
  await deleteObjects(deps, names);
  await drillPoint("maintenance: objects gone, not noted");
  if (names.length > 0) await tenant((sql) => markObjectsPurged(sql, names));
  return names.length;
}

async function deleteObjects(deps: MaintenanceDeps, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await deps.storage.delete(name);
  }
}

/** Deletes each object before the row that remembers it. */
async function purgeIntents(deps: MaintenanceDeps, tenant: Tenant): Promise<number> {
  return tenant(async (sql) => {
    const intents = await lockExpiredIntents(sql, INTENTS_A_STEP);
    await Promise.all(
      intents.filter((intent) => !intent.is_stored).map((intent) => deps.storage.delete(intent.object_key)),
    );
    if (intents.length > 0)
      await deleteIntents(
        sql,
        intents.map((intent) => intent.object_key),
      );
    return intents.length;
  });
}

async function purgeEmbeddings(organizationId: string, tenant: Tenant): Promise<number> {
  let purged = 0;
  await untilNone(async () => {
    const { seen, deleted } = await tenant((sql) =>
      deleteUnusedEmbeddings(sql, organizationId, EMBEDDINGS_A_STEP),
    );
    purged += deleted;
    return seen;
  }, EMBEDDINGS_A_STEP);
  return purged;
}

/** Deletes objects that are at least a day old and that no row names. */
async function purgeUnnamedObjects(
  deps: MaintenanceDeps,
  organizationId: string,
  tenant: Tenant,
): Promise<number> {
  let purged = 0;
  for (let after: string | undefined; ;) {
    const page = await deps.storage.list(organizationId, {
      limit: OBJECTS_A_PAGE,
      ...(after === undefined ? {} : { after }),
    });
    const old = page
      .filter((object) => Date.now() - object.updatedAt.getTime() > ORPHAN_AGE_MS)
      .map((object) => object.name);
    const unnamed = await tenant((sql) => findUnnamed(sql, old));
    await deleteObjects(deps, unnamed);
    purged += unnamed.length;
    after = page.at(-1)?.name;
    if (page.length < OBJECTS_A_PAGE) return purged;
  }
}

/** Removes the remains of runs that are gone, and hides entries that no version serves, to be purged. */
async function removeOrphans({ db }: MaintenanceDeps, organization: OrganizationRef): Promise<number> {
  const orphans = await findOrphanRuns(db, organization);
  for (const { run_num: runNum, space_num: spaceNum } of orphans) {
    const step = async (sql: Sql): Promise<boolean> => {
      if (spaceNum === null) return deleteText(sql, runNum, ROWS_A_PURGE);
      await hideRun(sql, { organizationNum: organization.num, spaceNum, runNum, reason: "superseded" });
      return false;
    };
    await untilDone(() => inTenant(db, organization, step));
  }
  return orphans.length;
}

/** Repeats `step` until it reports that nothing is left. */
async function untilDone(step: () => Promise<boolean>): Promise<void> {
  let isMore = true;
  while (isMore) isMore = await step();
}
