/** A batch's workflow: releases runs as the database reports room, until the last has ended. */
import { PAUSES } from "#timings";
import {
  continueAsNew,
  defineQuery,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import type { BatchInput, BatchStatus } from "../domain/work/batch.ts";
import { batch } from "./proxies.ts";

interface BatchProgress {
  readonly status: BatchStatus;
  readonly released: number;
  /** Runs that were released and have not ended. */
  readonly open: number;
}

const batchProgress = defineQuery<BatchProgress>("batchProgress");

/**
 * Pause, resume and cancel are columns in the database, not signals: each step reads them, so none is lost
 * while no worker runs. The pause between steps doubles while nothing happens, from 0.5 to 2 seconds.
 * @param releasedBefore runs that earlier executions of this workflow released, before it continued as new.
 */
export async function batchReprocess(input: BatchInput, releasedBefore = 0): Promise<BatchProgress> {
  let progress: BatchProgress = { status: "running", released: releasedBefore, open: 0 };
  setHandler(batchProgress, () => progress);
  for (let idleSteps = 0; ;) {
    const step = await batch.stepBatch(input);
    progress = { status: step.status, released: progress.released + step.released, open: step.open };
    setCurrentDetails(`${progress.status}: ${progress.released} released, ${progress.open} of them open`);
    if (step.done) break;
    if (workflowInfo().continueAsNewSuggested)
      await continueAsNew<typeof batchReprocess>(input, progress.released);
    idleSteps = step.released + step.cancelled > 0 ? 0 : idleSteps + 1;
    await sleep(Math.min(PAUSES.longestBatchStep, PAUSES.batchStep * 2 ** Math.min(idleSteps, 10)));
  }
  upsertSearchAttributes({
    Outcome: [progress.status === "cancelled" ? "cancelled" : "completed"],
    Stage: ["done"],
  });
  return progress;
}
