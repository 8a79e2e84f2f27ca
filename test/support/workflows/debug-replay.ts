/**
 * Replays one recorded history of test/replay, so that a debugger can stop in a workflow. Temporal runs
 * replayed workflows in the main thread, where breakpoints in src/workflows hold.
 *
 * @example node --inspect-brk test/support/workflows/debug-replay.ts documentPipeline
 * @see https://docs.temporal.io/develop/typescript/debugging
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "@temporalio/worker";
import { workflowBundle } from "../../../src/temporal/workflow-bundle.ts";
import { replayConverter, sealedHistory } from "./sealed-history.ts";
import { quietRuntime } from "./temporal-runtime.ts";

const [name = "documentPipeline"] = process.argv.slice(2);
const history = JSON.parse(
  readFileSync(join(import.meta.dirname, `../../replay/${name}.json`), "utf8"),
) as Record<string, unknown>;

quietRuntime();
await Worker.runReplayHistory(
  { workflowBundle: await workflowBundle(), dataConverter: replayConverter },
  sealedHistory(history),
);
process.stdout.write(`${name}: ${(history["events"] as unknown[]).length} events replayed\n`);
