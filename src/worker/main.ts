/** The worker process: runs workflows, parses, embeds and runs tools, and sweeps the queues. */
import { DEADLINES, PAUSES } from "#timings";
import { type NativeConnection, Worker } from "@temporalio/worker";
import type { Activities } from "../activities/index.ts";
import { NO_TURNS, createChatActivities } from "../activities/chat.ts";
import { createTurnSweeper } from "../activities/upkeep/dead-turns.ts";
import { loadConfig, requireWorker } from "../config/config.ts";
import { announceProcess } from "../db/instance/processes.ts";
import { hasIsolatedClaims } from "../db/runs/claim.ts";
import { queryOnce } from "../db/pool.ts";
import { countWhenDue } from "../integrity/orphan-counts.ts";
import { newId } from "../domain/ids.ts";
import { createLog } from "../process/log.ts";
import { serveMetrics } from "../metrics/serve.ts";
import { reportReady } from "../process/ready.ts";
import { prepareOcrData } from "../parsers/pdf/ocr-data.ts";
import { watchStandstill } from "../process/standstill.ts";
import { type ProcessStop, aborted, closingOnFailure, runProcess, watchSignals } from "../process/stop.ts";
import { serviceVersion } from "../process/version.ts";
import { connectWorkers } from "../temporal/connection.ts";
import { reportLostAttempt } from "../temporal/lost-attempt.ts";
import { QUEUES, type QueueName } from "../domain/work/queues.ts";
import { ensureSchedules } from "../temporal/schedules.ts";
import { workflowBundle } from "../temporal/workflow-bundle.ts";
import { startTracing } from "../telemetry/tracing.ts";
import { type CoreMetrics, installRuntime } from "../temporal/runtime.ts";
import { registerSearchAttributes } from "../temporal/search-attributes.ts";
import { processIdentity } from "../temporal/seals/identity.ts";
import { pingTemporal } from "../temporal/start/chat.ts";
import { createActivityWorker, workerOptions } from "./activity-workers.ts";
import { workInBackground } from "./background.ts";
import { type WorkerDeps, openWorkerDeps } from "./deps.ts";
import { serveHealth, type ServedHealth } from "./health.ts";
import { keepIsolation } from "./isolation.ts";
import { every } from "../process/concurrency/rounds.ts";

const PARSER_CHILDREN = 2;
const PREPARE_MS = 30_000;
/** How often a worker looks whether orphans are to be counted; the first time is soon after its start. */
const LOOK_FOR_COUNT_MS = 30_000;
const COUNT_EVERY_MINUTES = 10;

async function createWorkers(deps: WorkerDeps, connection: NativeConnection): Promise<Worker[]> {
  const { activities } = deps;
  const shared = workerOptions(deps, connection);
  const workflows = {
    ...shared,
    workflowBundle: await workflowBundle(),
    stickyQueueScheduleToStartTimeout: DEADLINES.stickyQueue,
    maxCachedWorkflows: 500,
  } as const;
  // Local activities run together with a workflow task.
  const localActivities = {
    ...createChatActivities(NO_TURNS),
    runTool: (input: Parameters<Activities["runTool"]>[0]) => activities.runTool(input),
  };
  const create = async (queue: Exclude<QueueName, "isolated">): Promise<Worker> => {
    if (queue === "pipeline") return Worker.create({ ...workflows, taskQueue: QUEUES.pipeline });
    if (queue === "chat")
      return Worker.create({
        ...workflows,
        taskQueue: QUEUES.chat,
        activities: localActivities,
        enableNonLocalActivities: false,
      });
    return createActivityWorker(queue, activities, shared);
  };
  return Promise.all(
    deps.config.worker.queues.flatMap((queue) => (queue === "isolated" ? [] : [create(queue)])),
  );
}

/** @returns undefined if no port is set for it. */
async function openHealth(
  { config, db, temporal }: WorkerDeps,
  isPolling: () => boolean,
): Promise<ServedHealth | undefined> {
  const { healthPort } = config.worker;
  if (healthPort === undefined) return undefined;
  const probes = {
    database: () => queryOnce(db.system, "select 1"),
    workflows: () => pingTemporal(temporal),
  };
  return serveHealth({ port: healthPort, host: config.api.host, isPolling, probes });
}

/** @returns a function that says that the process has ended. */
async function enter({ config, db, log }: WorkerDeps): Promise<() => Promise<void>> {
  return announceProcess(
    db,
    {
      id: newId(),
      kind: "worker",
      version: await serviceVersion(),
      identity: processIdentity(),
      queues: config.worker.queues,
    },
    (error) => log.warn({ err: error }, "the liveness of this process could not be recorded"),
  );
}

/** Counts orphans every ten minutes, unless another worker does. @returns a function that ends it. */
function countOrphansInTime({ db, log }: WorkerDeps): () => Promise<void> {
  const end = new AbortController();
  let counting: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    counting = counting
      .then(() => countWhenDue(db, COUNT_EVERY_MINUTES, end.signal))
      .catch((error: unknown) => {
        if (!end.signal.aborted) log.warn({ err: error }, "orphans could not be counted");
      });
  }, LOOK_FOR_COUNT_MS);
  return async () => {
    clearInterval(timer);
    end.abort();
    await counting;
  };
}

async function main(): Promise<void> {
  watchStandstill();
  const stop = watchSignals();
  const config = requireWorker(loadConfig());
  // Before anything else, while no native threads run that a failure here would cut off.
  await prepareOcrData(config.ocr.languages, config.ocr.dataFolder);
  const coreMetrics = await installRuntime(
    createLog({ level: config.log.level, name: "worker" }),
    "WARN",
    config.metrics.port !== undefined,
  );
  const endTracing = startTracing(config.telemetry, "worker");
  const deps = await openWorkerDeps(config, { name: "worker", parserChildren: PARSER_CHILDREN });
  await closingOnFailure(deps, () => work(deps, stop, coreMetrics));
  await endTracing();
}

async function work(deps: WorkerDeps, stop: ProcessStop, coreMetrics: CoreMetrics): Promise<void> {
  const { config, log, db } = deps;
  let workers: readonly Worker[] | undefined;
  // Served while it still waits for Temporal: a restart of the worker would not bring Temporal back.
  const health = await openHealth(
    deps,
    () => workers?.every((worker) => worker.getState() === "RUNNING") === true,
  );
  const connection = await connectWorkers(config.temporal, stop.signal, log);
  const prepare = async (): Promise<void> => {
    await registerSearchAttributes(deps.temporal, config.temporal.namespace);
    await ensureSchedules(deps.temporal);
  };
  await prepare();
  workers = await createWorkers(deps, connection);
  const running = Promise.all(workers.map((worker) => worker.run()));
  const isolation = config.worker.queues.includes("isolated")
    ? keepIsolation({
        log,
        isNeeded: () => hasIsolatedClaims(db.system),
        reportLost: (attempt) => reportLostAttempt(deps.temporal, attempt),
      })
    : undefined;
  const rounds = [
    every(
      PAUSES.sweep,
      () => deps.dispatcher.sweep(),
      (error) => log.warn({ err: error }, "a dispatcher round failed"),
    ),
    every(PAUSES.sweep, createTurnSweeper({ db, client: deps.temporal }), (error) =>
      log.warn({ err: error }, "checking for lost chat turns failed"),
    ),
    // A Temporal whose database was replaced has lost both.
    every(PREPARE_MS, prepare, (error) =>
      log.warn({ err: error }, "search attributes and schedules could not be maintained"),
    ),
  ];
  const leave = await enter(deps);
  const endCounts = countOrphansInTime(deps);
  const closeMetrics = await serveMetrics({ ...deps, coreMetrics });
  // Not earlier: on a busy machine a worker that starts after a kill would wait for everything else.
  await workInBackground();
  stop.started();
  log.info({ queues: config.worker.queues }, "worker is up");
  reportReady();

  await Promise.race([running, aborted(stop.signal)]);
  log.info("worker stops");
  health?.drain();
  await Promise.all(rounds.map((round) => round.stop()));
  for (const worker of workers) if (worker.getState() === "RUNNING") worker.shutdown();
  await Promise.all([running, isolation?.stop()]);
  await closeMetrics();
  await endCounts();
  await leave();
  await health?.close();
  await connection.close();
  await deps.close();
}

await runProcess("worker", main);
