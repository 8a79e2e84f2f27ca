/** Recorded histories against today's workflows: a change that would break a running workflow fails here. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "@temporalio/worker";
import { beforeAll, describe, expect, test } from "vitest";
import { type WorkflowBundleOption } from "@temporalio/worker";
import { replayConverter, sealedHistory } from "../support/workflows/sealed-history.ts";
import { quietRuntime } from "../support/workflows/temporal-runtime.ts";
import { workflowBundle } from "../../src/temporal/workflow-bundle.ts";

const FOLDER = join(import.meta.dirname, "../replay");
const names = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));
const read = (name: string): { events: Array<Record<string, any>> } =>
  JSON.parse(readFileSync(join(FOLDER, name), "utf8"));

let bundle: WorkflowBundleOption;

beforeAll(async () => {
  quietRuntime();
  bundle = await workflowBundle();
});

const replay = (history: object): Promise<void> =>
  Worker.runReplayHistory({ workflowBundle: bundle, dataConverter: replayConverter }, sealedHistory(history));

describe("a recorded history replays", () => {
  test.each(names)("%s", async (name) => {
    await expect(replay(read(name))).resolves.toBeUndefined();
  });
});

test("every workflow has a recorded history, and a history that does not fit is refused", async () => {
  const workflows = Object.keys(await import("../../src/workflows/index.ts"));
  const recorded = new Set(names.map((name) => name.replace(/(?:\.\w+)?\.json$/, "")));
  expect(workflows.filter((workflow) => !recorded.has(workflow))).toEqual([]);
  const history = read("documentPipeline.json");
  for (const event of history.events) {
    const scheduled = event["activityTaskScheduledEventAttributes"];
    if (scheduled) scheduled.activityType.name = "somethingElse";
  }
  await expect(replay(history)).rejects.toThrow(/nondeterminism/i);
});
