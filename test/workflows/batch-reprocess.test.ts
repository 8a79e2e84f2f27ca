/** The workflow of a batch in a clock that jumps: a history that grows long goes on in a new one. */
import { afterEach, expect, test, vi } from "vitest";
import type { BatchInput, BatchStep } from "../../src/domain/batch.ts";

class ContinuedAsNew extends Error {
  readonly args: readonly unknown[];
  constructor(args: readonly unknown[]) {
    super("continued as new");
    this.args = args;
  }
}

/** Temporal's suggestion, as a server makes it when a history is long. */
const info = { continueAsNewSuggested: false };

afterEach(() => {
  vi.doUnmock("@temporalio/workflow");
  vi.resetModules();
});

async function workflowWith(step: (input: BatchInput) => Promise<BatchStep>) {
  vi.doMock("@temporalio/workflow", () => ({
    defineQuery: (name: string) => name,
    setHandler: () => undefined,
    setCurrentDetails: () => undefined,
    upsertSearchAttributes: () => undefined,
    workflowInfo: () => info,
    sleep: () => Promise.resolve(),
    continueAsNew: (...args: unknown[]) => Promise.reject(new ContinuedAsNew(args)),
    proxyActivities: () => ({ stepBatch: step }),
  }));
  return (await import("../../src/workflows/batch-reprocess.ts")).batchReprocess;
}

test("a batch whose history grows long goes on in a new one with its progress, until its last run has ended", async () => {
  const input: BatchInput = { organization: { id: "an organization", num: 1 }, batchId: "a batch" };
  let released = 0;
  const batchReprocess = await workflowWith(async () => {
    released += 100;
    info.continueAsNewSuggested = released % 300 === 0;
    return { status: "running", released: 100, cancelled: 0, open: 0, done: released === 1_000 };
  });
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
