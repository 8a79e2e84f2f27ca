/**
 * The process for suspected documents. It works on one at a time and on nothing else, so whatever kills it
 * was that document.
 */
import { PAUSES } from "#timings";
import type { ActivityInterceptorsFactory } from "@temporalio/worker";
import { loadConfig, requireReal } from "../config/config.ts";
import { createLog } from "../process/log.ts";
import { watchStandstill } from "../process/standstill.ts";
import { aborted, runProcess, watchSignals } from "../process/stop.ts";
import { connectWorkers } from "../temporal/connection.ts";
import { installRuntime } from "../temporal/runtime.ts";
import { startTracing } from "../telemetry/tracing.ts";
import { createActivityWorker, workerOptions } from "./activity-workers.ts";
import { openWorkerDeps } from "./deps.ts";
import type { IsolationMessage } from "./isolation.ts";

/** Short, because a document that is stopped in order goes on later. */
const SHUTDOWN = { shutdownGraceTime: "1 second", shutdownForceTime: "15 seconds" } as const;
const PARSER_CHILDREN = 1;

/** Resolves once the message has left this process, so that it arrives whatever becomes of the process. */
async function report(message: IsolationMessage): Promise<void> {
  if (process.connected)
    await new Promise<void>((resolve) => process.send?.(message, undefined, undefined, () => resolve()));
}

const reportAttempts: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    async execute(input, next) {
      const { workflowId, runId } = info.workflowExecution!;
      await report({ current: { workflowId, runId, activityId: info.activityId } });
      try {
        return await next(input);
      } finally {
        await report({ current: null });
      }
    },
  },
});

// The worker that started this was killed. The attempt ends in order: its document is not to blame.
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));

async function main(): Promise<void> {
  watchStandstill();
  const stop = watchSignals();
  const config = requireReal(loadConfig());
  await installRuntime(createLog({ level: config.log.level, name: "isolated" }), "WARN", false);
  const endTracing = startTracing(config.telemetry, "worker");
  const deps = await openWorkerDeps(config, { name: "isolated", parserChildren: PARSER_CHILDREN });
  const connection = await connectWorkers(config.temporal, stop.signal, deps.log);
  const worker = await createActivityWorker("isolated", deps.activities, {
    ...workerOptions(deps, connection),
    ...SHUTDOWN,
    interceptors: { activity: [...deps.workerHooks.interceptors.activity, reportAttempts] },
  });
  const running = worker.run();
  stop.started();
  const pulse = setInterval(() => void report("alive"), PAUSES.isolationPulse);
  deps.log.info("processing suspected documents in isolation");

  await Promise.race([running, aborted(stop.signal)]);
  if (worker.getState() === "RUNNING") worker.shutdown();
  await running;
  clearInterval(pulse);
  await connection.close();
  await deps.close();
  await endTracing();
}

await runProcess("worker of suspected documents", main);
process.exit(0);
