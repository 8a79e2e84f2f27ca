/** Messages of Temporal's SDK become lines of the service's log. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { createLog } from "../../src/process/log.ts";
import { sdkLogger } from "../../src/temporal/sdk-log.ts";

const require = createRequire(import.meta.url);

function recording() {
  const lines: string[] = [];
  const log = createLog({
    level: "info",
    name: "worker",
    destination: { write: (line) => void lines.push(line) },
  });
  return {
    logger: sdkLogger(log, "WARN"),
    said: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

const activity =
  "Error while processing ActivityTask.start: Activity function newer is not registered on this " +
  "Worker, available activities: []";
const workflow =
  "Failed to initialize workflow of type 'newWorkflow': no such function is exported by the workflow bundle";

test("an unknown type is logged once, without a stack and without its task", () => {
  const { logger, said } = recording();
  for (let attempt = 0; attempt < 3; attempt += 1) {
    logger.error(activity, {
      error: new Error("not registered"),
      task: "the document",
      taskEncoded: "AAAA",
      activityType: "newer",
    });
    logger.error("Failed to process Workflow Activation", {
      runId: "r",
      error: { message: workflow, stack: "at x" },
      workflowExists: false,
    });
    logger.warn("Failing workflow task", { failure: { failure: { message: workflow, stackTrace: "at x" } } });
  }
  expect(said()).toMatchObject([
    { level: "warn", name: "worker", type: "newer", msg: expect.stringContaining("another version") },
    { level: "warn", type: "newWorkflow", msg: expect.stringContaining("another version") },
  ]);
  expect(JSON.stringify(said())).not.toMatch(/the document|AAAA|at x|stack/);
});

test("the SDK still says it so", async () => {
  const [worker, sandbox] = await Promise.all(
    ["@temporalio/worker/lib/worker.js", "@temporalio/workflow/lib/worker-interface.js"].map(async (path) =>
      readFile(require.resolve(path), "utf8"),
    ),
  );
  expect(worker).toContain("Activity function ${activityType} is not registered on this Worker");
  expect(sandbox).toContain(
    "Failed to initialize workflow of type '${activator.info.workflowType}': ${details}",
  );
  expect(sandbox).toContain("'no such function is exported by the workflow bundle'");
});

test("anything else is a line of its own level, with its error, and never with a task's payloads", () => {
  const { logger, said } = recording();
  logger.info("Worker started");
  logger.warn("No workflows registered, not polling for workflow tasks", { taskQueue: "parse" });
  logger.error("Error while processing ActivityTask.start: no such key", {
    error: new Error("no such key"),
    task: "the document",
    taskEncoded: "AAAA",
    attempt: 2,
  });
  expect(said()).toMatchObject([
    {
      level: "error",
      attempt: 2,
      err: { type: "Error", stack: expect.stringContaining("sdk-log.test.ts") },
      msg: "Error while processing ActivityTask.start: …",
    },
  ]);
  expect(JSON.stringify(said())).not.toMatch(/the document|AAAA|no such key/);
});
