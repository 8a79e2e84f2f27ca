/** The workflow of a batch: releases its runs in a bounded window, as the database says that there is room, until the last has ended. */
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
  /** Released runs that have not ended. */
  readonly open: number;
}

const batchProgress = defineQuery<BatchProgress>("batchProgress");

const SHORTEST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 2_000;

/** Pause, resume and cancel are facts in the database; each step reads them, so that none is lost while no worker runs. */
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
    await sleep(Math.min(LONGEST_PAUSE_MS, SHORTEST_PAUSE_MS * 2 ** Math.min(idleSteps, 10)));
  }
  upsertSearchAttributes({
    Outcome: [progress.status === "cancelled" ? "cancelled" : "completed"],
    Stage: ["done"],
  });
  return progress;
}
