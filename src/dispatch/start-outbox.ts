/** Starts the workflows of the rows in an outbox: deletions, batches and operations. */
import type { Client } from "@temporalio/client";
import type { Outbox } from "../db/outbox/define-outbox.ts";
import { BATCHES, DELETIONS, OPERATIONS } from "../db/outbox/outboxes.ts";
import type { Database } from "../db/pool.ts";
import { drillPoint } from "../telemetry/drill-point.ts";
import { startBatch } from "../temporal/start/batch.ts";
import { startDeletion } from "../temporal/start/deletion.ts";
import { startOperation } from "../temporal/start/operation.ts";

interface StartDeps {
  readonly db: Database;
  readonly client: Client;
}

/** How many rows of an outbox one call takes; the next sweep takes more. */
const ROWS_A_SWEEP = 50;

/** @param organizationId null: of all organizations. @throws the first error of a start. */
export async function startDeletions(
  { db, client }: StartDeps,
  organizationId: string | null,
): Promise<void> {
  const taken = await DELETIONS.lease(db.system, ROWS_A_SWEEP, organizationId);
  if (taken.length === 0) return;
  await drillPoint("deleteTarget: accepted, workflow not started");
  await startEach(db, DELETIONS, taken, async ({ id, organization, kind }) => {
    await startDeletion(client, { organization, deletionId: id }, kind);
    await drillPoint("deleteTarget: workflow started, answer not seen");
  });
}

/** @param organizationId null: of all organizations. @throws the first error of a start. */
export async function startBatches({ db, client }: StartDeps, organizationId: string | null): Promise<void> {
  const taken = await BATCHES.lease(db.system, ROWS_A_SWEEP, organizationId);
  if (taken.length === 0) return;
  await drillPoint("batchReprocess: accepted, workflow not started");
  await startEach(db, BATCHES, taken, async (batch) => {
    await startBatch(client, batch);
    await drillPoint("batchReprocess: workflow started, answer not seen");
  });
}

/** @throws the first error of a start. */
export async function startOperations({ db, client }: StartDeps): Promise<void> {
  const taken = await OPERATIONS.lease(db.system, ROWS_A_SWEEP, null);
  if (taken.length === 0) return;
  await drillPoint("operation: accepted, workflow not started");
  await startEach(db, OPERATIONS, taken, async ({ id, kind }) => {
    await startOperation(client, { operationId: id }, kind);
    await drillPoint("operation: workflow started, answer not seen");
  });
}

/** Starts all; ends the lease of each that could not be, for the next round. @throws the first error. */
async function startEach<T extends { readonly id: string }>(
  db: Database,
  outbox: Outbox<T>,
  taken: readonly T[],
  start: (one: T) => Promise<void>,
): Promise<void> {
  const outcomes = await Promise.allSettled(taken.map(start));
  const idsOf = (status: "fulfilled" | "rejected"): string[] =>
    taken.filter((_one, index) => outcomes[index]!.status === status).map((one) => one.id);
  await outbox.noteStarted(db.system, idsOf("fulfilled"));
  await outbox.endLeases(db.system, idsOf("rejected"));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}
