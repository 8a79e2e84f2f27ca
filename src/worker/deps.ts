/** Opens what the worker needs besides the shared parts: activities, parsers, gated models. */
import { type Activities, createActivities } from "../activities/index.ts";
import { createChunking } from "../activities/pipeline/chunking.ts";
import { createWriteGate } from "../process/concurrency/fair-gate.ts";
import type { PipelineDeps } from "../activities/pipeline/pipeline-deps.ts";
import { createProviderGate } from "../db/instance/provider-gate.ts";
import type { RealConfig } from "../config/config.ts";
import { type SharedDeps, openSharedDeps } from "../deps.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import { PRIORITY } from "../domain/work/processing.ts";
import type { Log } from "../process/log.ts";
import { closingOnFailure } from "../process/stop.ts";
import { type EmbeddingModel, openEmbeddingModel } from "../models/embedding/embedding-model.ts";
import { mergeEmbeddings } from "../models/embedding/merge.ts";
import { behindGate } from "../models/provider/gate.ts";
import { cacheQueries } from "../models/embedding/queries.ts";
import { createParserPool, PARSER_ENTRY } from "../parsers/process/child-process.ts";
import { prepareOcrData } from "../parsers/pdf/ocr-data.ts";
import {
  describeSandbox,
  isWhole,
  prepareSandbox,
  type Sandbox,
} from "../parsers/process/sandbox/sandbox.ts";
import { createPoster } from "../outbound/poster.ts";
import { openTemporaryFolder } from "../process/temporary-folder.ts";

export interface WorkerDeps extends SharedDeps {
  readonly activities: Activities;
  /** The sandbox around the parser processes. Only the first document waits for it. */
  readonly sandbox: Promise<Sandbox>;
  /** Call it when no activity runs any more. */
  close(): Promise<void>;
}

interface WorkerProcess {
  readonly name: string;
  /** How many parser processes run at once. */
  readonly parserChildren: number;
}

/** Opens the shared parts and the activities. @throws as {@link openSharedDeps}, or for the data folder. */
export async function openWorkerDeps(
  config: RealConfig,
  { name, parserChildren }: WorkerProcess,
): Promise<WorkerDeps> {
  const shared = await openSharedDeps(config, name);
  return closingOnFailure(shared, async () => {
    const opened = await openActivities(shared, parserChildren);
    return {
      ...shared,
      activities: opened.activities,
      sandbox: opened.sandbox,
      async close() {
        await opened.close();
        await shared.close();
      },
    };
  });
}

type OpenActivities = Pick<WorkerDeps, "activities" | "sandbox" | "close">;

async function openActivities(deps: SharedDeps, parserChildren: number): Promise<OpenActivities> {
  const { config } = deps;
  const temporary = await openTemporaryFolder(config.dataDir, (error) => {
    throw error;
  });
  const parsers = temporary.subfolder("parsers");
  const sandbox = prepareSandbox({ entry: PARSER_ENTRY, folder: parsers });
  void sandbox.then((found) => reportSandbox(deps.log, found));
  const ocr = await prepareOcrData(config.ocr.languages, config.ocr.dataFolder);
  const parserPool = createParserPool({ size: parserChildren, ocr, folder: parsers, sandbox });
  const queryEmbedding = cacheQueries(deps.embedding, {
    maxBytes: 2 * 1024 * 1024,
    timeoutMs: 2_000,
    open: (model) => openEmbeddingModel(config.models, model),
  });
  const poster = createPoster({ allowHosts: config.webhooks.allowHosts });
  const activities = createActivities({
    ...deps,
    poster,
    embedding: mergeEmbeddings(gated(deps)),
    parserPool,
    chunking: createChunking(config.models, deps.embedding),
    writes: createWriteGate(deps.db.app.options.max),
    temporary,
    eventRetentionDays: deps.config.events.retentionDays,
    ...wakesOf(deps.dispatcher),
    queryEmbedding,
    isModelProvided: config.models.chatModel !== undefined,
  });
  return {
    activities,
    sandbox,
    async close() {
      poster.close();
      await queryEmbedding.close();
      await parserPool.close();
      await temporary.close();
    },
  };
}

/** Logs one line at the start: a warning if this machine lacks a layer that keeps documents apart. */
function reportSandbox(log: Log, sandbox: Sandbox): void {
  log[isWhole(sandbox) ? "info" : "warn"]({ on: sandbox.on, off: sandbox.off }, describeSandbox(sandbox));
}

/** Calls of a provider pass the gate that all workers share; the built-in model needs none. */
function gated({ config, db, embedding }: SharedDeps): EmbeddingModel {
  const { embeddingModel, baseUrl } = config.models;
  return embeddingModel === undefined
    ? embedding
    : behindGate(embedding, createProviderGate(db, `${baseUrl ?? ""} ${embeddingModel}`));
}

/** `wakeDispatcher` wakes both priorities, because a claim that closes makes room for either. */
function wakesOf(
  dispatcher: Dispatcher,
): Pick<PipelineDeps, "wakeDispatcher" | "wakeBatchRuns" | "wakeBatches" | "wakeDeletions"> {
  const wakeBatchRuns: PipelineDeps["wakeBatchRuns"] = (organization) =>
    dispatcher.wake(organization, PRIORITY.batch);
  return {
    wakeBatchRuns,
    wakeBatches: (organizationId) => dispatcher.wakeBatches(organizationId),
    wakeDeletions: (organizationId) => dispatcher.wakeDeletions(organizationId),
    wakeDispatcher(organization) {
      dispatcher.wake(organization);
      wakeBatchRuns(organization);
    },
  };
}
