/** The worker process: pipelines, parsing, embedding and tools, and the rounds of the dispatcher. */
import { rm } from "node:fs/promises";
import { type NativeConnection, Worker } from "@temporalio/worker";
import { type Activities, createActivities } from "../activities/index.ts";
import { NO_TURNS, createChatActivities } from "../activities/chat.ts";
import { createChunking } from "../activities/chunking.ts";
import type { PipelineDeps } from "../activities/pipeline-deps.ts";
import { createTurnSweeper } from "../activities/turn-sweeper.ts";
import { loadConfig, requireReal } from "../config.ts";
import { type SharedDeps, openSharedDeps } from "../deps.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import { PRIORITY } from "../domain/processing.ts";
import { serveMetrics } from "../metrics/serve.ts";
import { createProviderGate } from "../db/provider-gate.ts";
import { type EmbeddingModel, openEmbeddingModel } from "../models/embedding-model.ts";
import { mergeEmbeddings } from "../models/merge-embeddings.ts";
import { behindGate } from "../models/provider-gate.ts";
import { cacheQueries } from "../models/query-embeddings.ts";
import { createParserPool } from "../parsers/child-process.ts";
import { prepareOcrData } from "../parsers/ocr-data.ts";
import { aborted, watchSignals } from "../process-stop.ts";
import { connectWorkers } from "../temporal/connection.ts";
import { QUEUES, type QueueName } from "../temporal/queues.ts";
import { ensureSchedules } from "../temporal/schedules.ts";
import { workerTracing } from "../temporal/tracing.ts";
import { startTracing } from "../telemetry/tracing.ts";
import { installRuntime } from "../temporal/runtime.ts";
import { registerSearchAttributes } from "../temporal/search-attributes.ts";
import { workflowBundle } from "./bundle.ts";
import { every } from "./rounds.ts";
import { openTemporaryFolder } from "./temporary-folder.ts";

const SHUTDOWN_GRACE = "20 seconds";
const PARSER_CHILDREN = 2;
const PREPARE_MS = 30_000;

/** Activities of each queue, and how many a process runs at once. */
const HOSTED: Partial<Record<QueueName, { activities: ReadonlyArray<keyof Activities>; atOnce: number }>> = {
  parse: { activities: ["prepareDocuments"], atOnce: 4 },
  embed: {
    activities: ["embedAndPublish", "purgeStep", "stepBatch", "listOrganizations", "maintainInstance", "maintainOrganization", "listSpacesToTend", "tendSpace", "operationStep"],
    atOnce: 4,
  },
  tools: { activities: ["runTool"], atOnce: 20 },
};

async function createWorkers(deps: SharedDeps, connection: NativeConnection, activities: Activities): Promise<Worker[]> {
  const shared = { ...workerTracing, connection, namespace: deps.config.temporal.namespace, dataConverter: deps.dataConverter, shutdownGraceTime: SHUTDOWN_GRACE };
  const bundle = await workflowBundle();
  const queues = deps.config.worker.queues;
  return Promise.all(
    queues.flatMap((queue) => {
      const workflows = { ...shared, workflowBundle: bundle, stickyQueueScheduleToStartTimeout: "5s", maxCachedWorkflows: 500 } as const;
      if (queue === "pipeline") return [Worker.create({ ...workflows, taskQueue: QUEUES.pipeline })];
      // For what runs with a workflow's task.
      const near = { ...createChatActivities(NO_TURNS), runTool: (input: Parameters<Activities["runTool"]>[0]) => activities.runTool(input) };
      if (queue === "chat") return [Worker.create({ ...workflows, taskQueue: QUEUES.chat, activities: near, enableNonLocalActivities: false })];
      const hosted = HOSTED[queue];
      if (!hosted) return [];
      const named = Object.fromEntries(hosted.activities.map((name) => [name, activities[name]]));
      return [
        Worker.create({
          ...shared,
          taskQueue: QUEUES[queue],
          activities: named,
          maxConcurrentActivityTaskExecutions: hosted.atOnce,
          maxHeartbeatThrottleInterval: "1s",
          defaultHeartbeatThrottleInterval: "1s",
        }),
      ];
    }),
  );
}

/** A provider's model stands behind the gate that all workers share; the model that ships asks nobody. */
function gated({ config, db, embedding }: SharedDeps): EmbeddingModel {
  const { embeddingModel, baseUrl } = config.models;
  return embeddingModel === undefined ? embedding : behindGate(embedding, createProviderGate(db, `${baseUrl ?? ""} ${embeddingModel}`));
}

/** A claim that closes makes room for runs of both priorities. */
function wakesOf(dispatcher: Dispatcher): Pick<PipelineDeps, "wakeDispatcher" | "wakeBatches"> {
  const wakeBatches: PipelineDeps["wakeBatches"] = (organization) => dispatcher.wake(organization, PRIORITY.batch);
  return {
    wakeBatches,
    wakeDispatcher(organization) {
      dispatcher.wake(organization);
      wakeBatches(organization);
    },
  };
}

async function main(): Promise<void> {
  const stop = watchSignals();
  const config = requireReal(loadConfig());
  const coreMetrics = await installRuntime("WARN", config.metrics.port !== undefined);
  const endTracing = startTracing(config.telemetry, "worker");
  const deps = await openSharedDeps(config, "worker");
  const { log } = deps;
  const parserPool = createParserPool({ size: PARSER_CHILDREN, ocr: await prepareOcrData(config.ocr.languages, config.ocr.dataFolder) });
  const temporaryFolder = await openTemporaryFolder(config.dataDir);
  const queryEmbedding = cacheQueries(deps.embedding, { maxEntries: 1_000, timeoutMs: 2_000, open: (model) => openEmbeddingModel(config.models, model) });
  const activities = createActivities({
    ...deps,
    embedding: mergeEmbeddings(gated(deps)),
    parserPool,
    chunking: createChunking(config.models, deps.embedding),
    temporaryFolder,
    ...wakesOf(deps.dispatcher),
    queryEmbedding,
  });

  const connection = await connectWorkers(config.temporal, stop.signal);
  const prepare = async (): Promise<void> => {
    await registerSearchAttributes(deps.temporal, config.temporal.namespace);
    await ensureSchedules(deps.temporal);
  };
  await prepare();
  const workers = await createWorkers(deps, connection, activities);
  const running = Promise.all(workers.map((worker) => worker.run()));
  const rounds = [
    every(
      1_000,
      () => deps.dispatcher.sweep(),
      (error) => log.warn({ err: error }, "a dispatcher round failed"),
    ),
    every(1_000, createTurnSweeper({ db: deps.db, client: deps.temporal }), (error) => log.warn({ err: error }, "a round over lost chat turns failed")),
    // A Temporal whose database was replaced knows neither any more.
    every(PREPARE_MS, prepare, (error) => log.warn({ err: error }, "search attributes and schedules could not be looked after")),
  ];
  const closeMetrics = await serveMetrics({ ...deps, coreMetrics });
  stop.started();
  log.info({ queues: config.worker.queues }, "worker is up");

  await Promise.race([running, aborted(stop.signal)]);
  log.info("worker stops");
  await Promise.all(rounds.map((round) => round.stop()));
  for (const worker of workers) if (worker.getState() === "RUNNING") worker.shutdown();
  await running;
  await queryEmbedding.close();
  await closeMetrics();
  await parserPool.close();
  await rm(temporaryFolder, { recursive: true, force: true });
  await connection.close();
  await deps.close();
  await endTracing();
}

await main();
