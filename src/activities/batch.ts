/** The activity of a batch's workflow. */
import { stepBatch as stepInDatabase } from "../db/runs/batch-steps.ts";
import { inTenantContended } from "../db/retry-deadlocks.ts";
import type { Database } from "../db/pool.ts";
import type { BatchInput, BatchStep } from "../domain/work/batch.ts";
import { drillPoint } from "../telemetry/drill-point.ts";
import { withHeartbeat } from "./heartbeat.ts";

interface BatchDeps {
  readonly db: Database;
  wakeBatchRuns(organization: { id: string; num: number }): void;
  wakeBatches(organizationId: string): void;
}

/** Releases runs, cancels runs, or does nothing, depending on the state in the batch's row. Idempotent. */
export async function stepBatch(deps: BatchDeps, input: BatchInput): Promise<BatchStep> {
  const step = await withHeartbeat(() =>
    inTenantContended(deps.db, input.organization, (sql) => stepInDatabase(sql, input.batchId)),
  );
  await drillPoint("batchReprocess: step committed, workflow not told");
  if (step.released > 0) deps.wakeBatchRuns(input.organization);
  if (step.done) deps.wakeBatches(input.organization.id);
  return step;
}
