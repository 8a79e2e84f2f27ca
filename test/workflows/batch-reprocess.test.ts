/** The workflow of a batch under a simulated clock: when its history grows long, it continues as new. */
import { expect, test } from "vitest";
import type { BatchInput } from "../../src/domain/work/batch.ts";
import { batchReprocess } from "../../src/workflows/batch-reprocess.ts";
import { ContinuedAsNew, virtualWorkflow } from "../support/workflows/virtual-workflow.ts";

test("a batch with a long history continues as new with its progress until its last run ends", async () => {
  const input: BatchInput = { organization: { id: "an organization", num: 1 }, batchId: "a batch" };
  let released = 0;
  // The suggestion that a server makes when a history is long.
  const info = { continueAsNewSuggested: false };
  const stepBatch = async () => {
    released += 100;
    info.continueAsNewSuggested = released % 300 === 0;
    return { status: "running", released: 100, cancelled: 0, open: 0, done: released === 1_000 };
  };
  virtualWorkflow({ activities: { stepBatch }, info });
  const histories: number[] = [];
  let args: readonly unknown[] = [input];
  let outcome: unknown;
  while (outcome === undefined) {
    outcome = await batchReprocess(...(args as [BatchInput, number?])).catch((error: unknown) => {
      if (!(error instanceof ContinuedAsNew)) throw error;
      args = error.args;
      histories.push(args[1] as number);
      return undefined;
    });
  }
  expect(histories).toEqual([300, 600, 900]);
  expect(outcome).toMatchObject({ status: "running", released: 1_000 });
});
