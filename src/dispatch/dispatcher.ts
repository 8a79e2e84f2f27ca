/** The only place that turns queued runs into workflows: claims them in groups and starts each claim, in any process, at any time. */
import type { Client } from "@temporalio/client";
import { type Claim, claimRuns, releaseClaim, waitingOrganizations } from "../db/runs/claim.ts";
import { endLease, markStarted, takeExpiredClaims } from "../db/runs/claim-leases.ts";
import { takePendingBatches } from "../db/runs/batches.ts";
import { takePendingDeletions } from "../db/deletions/accept.ts";
import { takePendingOperations } from "../db/outbox/operations.ts";
import type { Database } from "../db/pool.ts";
import { endLeases, noteStarted, type Outbox } from "../db/outbox/leases.ts";
import { DomainError } from "../domain/errors.ts";
import { PRIORITY, type Priority } from "../domain/work/processing.ts";
import type { Log } from "../process/log.ts";
import { drillPoint } from "../telemetry/drill-point.ts";
import { below } from "../telemetry/span.ts";
import { startBatch } from "../temporal/start/batch.ts";
import { startDeletion } from "../temporal/start/deletion.ts";
import { startOperation } from "../temporal/start/operation.ts";
import { startPipeline } from "../temporal/start/pipeline.ts";

interface DispatcherDeps {
  readonly db: Database;
  readonly client: Client;
  readonly log: Log;
}

type Starter = Pick<DispatcherDeps, "db" | "client">;

interface Organization {
  readonly id: string;
  readonly num: number;
}

export interface Dispatcher {
  /** Says that the organization may have queued runs, interactive ones unless said otherwise. Returns at once; wakes during a claim lead to one more claim behind it. */
  wake(organization: Organization, priority?: Priority): void;
  /** Says that the organization has a batch to start, or room for the next. Returns at once. */
  wakeBatches(organizationId: string): void;
  /** Says that the organization has a deletion to start, or room for the next. Returns at once. */
  wakeDeletions(organizationId: string): void;
  /** One round over all organizations and all claims whose lease has passed. What process calls it does not matter. */
  sweep(): Promise<void>;
  /** Resolves once nothing that was woken is under way. */
  idle(): Promise<void>;
}

const ORGANIZATIONS_A_SWEEP = 50;
const CLAIMS_A_SWEEP = 50;
const DELETIONS_A_SWEEP = 50;
const BATCHES_A_SWEEP = 50;

export function createDispatcher({ db, client, log }: DispatcherDeps): Dispatcher {
  const running = new Map<string, Promise<void>>();
  const again = new Set<string>();

  const start = async (claim: Claim): Promise<void> => {
    await drillPoint("documentPipeline: claimed, workflow not started");
    const state = await startOrLetGo({ db, client }, claim);
    await drillPoint("documentPipeline: workflow started, answer not seen");
    if (state === "running") return markStarted(db.system, claim.id);
    const released = await releaseClaim(db.system, claim.id);
    if (released > 0)
      log.warn(
        { claim_id: claim.id, runs: released },
        "a workflow had closed before its runs ended; they are queued again",
      );
  };

  const dispatch = async (organization: Organization, priority: Priority): Promise<void> => {
    await drillPoint("documentPipeline: accepted, nothing claimed");
    for (;;) {
      const claims = await claimRuns(db.system, organization, priority);
      if (claims.length === 0) return;
      await Promise.all(claims.map(start));
    }
  };

  const wake = (organization: Organization, priority: Priority): Promise<void> => {
    const key = `${organization.id} ${priority}`;
    const current = running.get(key);
    if (current) {
      again.add(key);
      return current;
    }
    const round = async (): Promise<void> => {
      do {
        again.delete(key);
        // A claim that could not be started is started by a sweep, once Temporal is back.
        await dispatch(organization, priority).catch((error: unknown) =>
          log.warn({ err: error, organization_id: organization.id }, "runs could not be dispatched"),
        );
      } while (again.has(key));
      running.delete(key);
    };
    const started = round();
    running.set(key, started);
    return started;
  };

  return {
    wake: (organization, priority = PRIORITY.interactive) => void wake(organization, priority),
    wakeBatches(organizationId) {
      startBatches({ db, client }, organizationId).catch((error: unknown) =>
        log.warn({ err: error, organization_id: organizationId }, "batches could not be started"),
      );
    },
    wakeDeletions(organizationId) {
      // What could not be started is started by a sweep, once Temporal is back.
      startDeletions({ db, client }, organizationId).catch((error: unknown) =>
        log.warn({ err: error, organization_id: organizationId }, "deletions could not be started"),
      );
    },
    async sweep() {
      const expired = await takeExpiredClaims(db.system, CLAIMS_A_SWEEP);
      await Promise.all(expired.map(start));
      await startDeletions({ db, client }, null);
      await startBatches({ db, client }, null);
      await startOperations({ db, client });
      for (const priority of [PRIORITY.interactive, PRIORITY.batch]) {
        const waiting = await waitingOrganizations(db.system, priority, ORGANIZATIONS_A_SWEEP);
        await Promise.all(waiting.map((organization) => wake(organization, priority)));
      }
    },
    async idle() {
      await Promise.all(running.values());
    },
  };
}

/** @throws what the start threw; the claim may be started by anybody then. */
async function startOrLetGo({ db, client }: Starter, claim: Claim): Promise<"running" | "closed"> {
  try {
    return await below(claim.traceparent, () => startPipeline(client, claim));
  } catch (error) {
    await endLease(db.system, claim.id, error instanceof DomainError ? error.code : "workflows_unavailable");
    throw error;
  }
}

/** Those of one organization, or of all. */
async function startDeletions({ db, client }: Starter, organizationId: string | null): Promise<void> {
  const taken = await takePendingDeletions(db.system, DELETIONS_A_SWEEP, organizationId);
  if (taken.length === 0) return;
  await drillPoint("deleteTarget: accepted, workflow not started");
  await startEach(db, "deletions", taken, async ({ id, organization, kind }) => {
    await startDeletion(client, { organization, deletionId: id }, kind);
    await drillPoint("deleteTarget: workflow started, answer not seen");
  });
}

/** Those of one organization, or of all. */
async function startBatches({ db, client }: Starter, organizationId: string | null): Promise<void> {
  const taken = await takePendingBatches(db.system, BATCHES_A_SWEEP, organizationId);
  if (taken.length === 0) return;
  await drillPoint("batchReprocess: accepted, workflow not started");
  await startEach(db, "batches", taken, async (batch) => {
    await startBatch(client, batch);
    await drillPoint("batchReprocess: workflow started, answer not seen");
  });
}

async function startOperations({ db, client }: Starter): Promise<void> {
  const taken = await takePendingOperations(db.system);
  if (taken.length === 0) return;
  await drillPoint("operation: accepted, workflow not started");
  await startEach(db, "operations", taken, async ({ id, kind }) => {
    await startOperation(client, { operationId: id }, kind);
    await drillPoint("operation: workflow started, answer not seen");
  });
}

/** Starts all; what could not be started is given back, for the next round. @throws the first error. */
async function startEach<T extends { readonly id: string }>(
  db: Database,
  outbox: Outbox,
  taken: readonly T[],
  start: (one: T) => Promise<void>,
): Promise<void> {
  const outcomes = await Promise.allSettled(taken.map(start));
  const ids = (status: "fulfilled" | "rejected"): string[] =>
    taken.filter((_one, index) => outcomes[index]!.status === status).map((one) => one.id);
  await noteStarted(db.system, outbox, ids("fulfilled"));
  await endLeases(db.system, outbox, ids("rejected"));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}
