/** Starts the workflows of claims. */
import type { Client } from "@temporalio/client";
import { type Claim, releaseClaim } from "../db/runs/claim.ts";
import { endLease, markStarted } from "../db/runs/claim-leases.ts";
import type { Database } from "../db/pool.ts";
import { DomainError } from "../domain/errors.ts";
import type { Log } from "../process/log.ts";
import { drillPoint } from "../telemetry/drill-point.ts";
import { continueTrace } from "../telemetry/span.ts";
import { startPipeline } from "../temporal/start/pipeline.ts";

export interface StartClaimDeps {
  readonly db: Database;
  readonly client: Client;
  readonly log: Log;
}

/**
 * Starts the claim's workflow, under an id that only this claim has, so that a second start is no second
 * workflow. If the workflow has already closed without ending all its runs, these are queued again.
 * @throws whatever kept the workflow from starting; the claim's lease has been ended, so any process may
 * start it.
 */
export async function startClaim({ db, client, log }: StartClaimDeps, claim: Claim): Promise<void> {
  await drillPoint("documentPipeline: claimed, workflow not started");
  const state = await startOrEndLease({ db, client }, claim);
  await drillPoint("documentPipeline: workflow started, answer not seen");
  if (state === "running") return markStarted(db.system, claim.id);
  const released = await releaseClaim(db.system, claim.id);
  if (released > 0)
    log.warn(
      { claim_id: claim.id, runs: released },
      "a workflow closed before its runs ended; requeued them",
    );
}

async function startOrEndLease(
  { db, client }: Pick<StartClaimDeps, "db" | "client">,
  claim: Claim,
): Promise<"running" | "closed"> {
  try {
    return await continueTrace(claim.traceparent, () => startPipeline(client, claim));
  } catch (error) {
    await endLease(db.system, claim.id, error instanceof DomainError ? error.code : "workflows_unavailable");
    throw error;
  }
}
