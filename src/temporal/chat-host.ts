/**
 * The two Temporal workers inside an API process: workflows of chat turns, and the activities of the turns
 * that it holds.
 */
import type { Client } from "@temporalio/client";
import {
  type DataConverter,
  type NativeConnection,
  Worker,
  type WorkflowBundleOption,
} from "@temporalio/worker";
import type { ChatActivities } from "../activities/chat.ts";
import type { ToolActivities } from "../activities/tools.ts";
import type { WorkerHooks } from "./hooks.ts";
import { workerIdentity } from "./seals/identity.ts";
import { eagerClient } from "./start/chat.ts";

interface ChatHostSettings {
  /** Connects, however long that takes; rejects once `signal` is aborted. */
  readonly connect: (signal: AbortSignal) => Promise<NativeConnection>;
  readonly namespace: string;
  /** Of the client that starts turns. */
  readonly dataConverter: DataConverter;
  readonly workerDataConverter: DataConverter;
  readonly workerHooks: WorkerHooks;
  readonly workflowBundle: () => Promise<WorkflowBundleOption>;
  readonly queues: { readonly chat: string; readonly api: string };
  readonly activities: ChatActivities & ToolActivities;
  /** Told once the workers poll, and again when they have stopped. */
  readonly onConnected: (isConnected: boolean) => void;
  /** Workers that stopped by themselves; they are started again. */
  readonly onError: (error: unknown) => void;
}

export interface ChatWorkers {
  /** The client that starts workflows eagerly. @throws Error before the first connection. */
  client(): Client;
  /** Resolves when the workers poll for the first time. */
  readonly ready: Promise<void>;
  /** Stops polling; activities under way are waited for, for ten seconds. */
  shutdown(): Promise<void>;
}

const RESTART_MS = 1_000;
/** A workflow of a process that died is picked up by another one after this. */
const STICKY_TIMEOUT = "1s";
/** Each group of turns, and each call after tools, holds an activity open without work of its own. */
const ACTIVITIES_AT_ONCE = 2_000;
/** A turn's second and later model calls each hold a workflow task open. */
const WORKFLOW_TASKS_AT_ONCE = 1_000;
const WORKFLOWS_CACHED = 1_000;
const GRACE = "10 seconds";

export function hostChat(settings: ChatHostSettings): ChatWorkers {
  const stop = new AbortController();
  const ready = Promise.withResolvers<void>();
  let client: Client | undefined;
  let workers: Worker[] = [];

  const runOnce = async (): Promise<void> => {
    const connection = await settings.connect(stop.signal);
    try {
      workers = await createWorkers(settings, connection);
      client = eagerClient(connection, settings.namespace, settings.dataConverter);
      const running = workers.map((worker) => worker.run());
      // The shutdown came while the workers were made.
      if (stop.signal.aborted) shutDown(workers);
      settings.onConnected(true);
      ready.resolve();
      await Promise.race(running).finally(() => shutDown(workers));
      await Promise.allSettled(running);
    } finally {
      settings.onConnected(false);
      await connection.close().catch(settings.onError);
    }
  };
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await runOnce().catch((error: unknown) => {
        if (!stop.signal.aborted) settings.onError(error);
      });
      if (!stop.signal.aborted) await new Promise((resolve) => setTimeout(resolve, RESTART_MS));
    }
  };
  const running = run();

  return {
    client() {
      if (!client) throw new Error("not connected to Temporal yet");
      return client;
    },
    ready: ready.promise,
    async shutdown() {
      stop.abort(new Error("shutting down"));
      shutDown(workers);
      await running;
    },
  };
}

function shutDown(workers: readonly Worker[]): void {
  for (const worker of workers) if (worker.getState() === "RUNNING") worker.shutdown();
}

async function createWorkers(settings: ChatHostSettings, connection: NativeConnection): Promise<Worker[]> {
  const {
    namespace,
    workerDataConverter: dataConverter,
    workerHooks,
    workflowBundle,
    queues,
    activities,
  } = settings;
  const shared = {
    ...workerHooks,
    connection,
    namespace,
    dataConverter,
    identity: workerIdentity(),
    shutdownGraceTime: GRACE,
  };
  return Promise.all([
    Worker.create({
      ...shared,
      taskQueue: queues.chat,
      workflowBundle: await workflowBundle(),
      activities: { ...activities },
      enableNonLocalActivities: false,
      maxConcurrentLocalActivityExecutions: ACTIVITIES_AT_ONCE,
      stickyQueueScheduleToStartTimeout: STICKY_TIMEOUT,
      maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS_AT_ONCE,
      maxCachedWorkflows: WORKFLOWS_CACHED,
    }),
    Worker.create({
      ...shared,
      taskQueue: queues.api,
      activities: { ...activities },
      maxConcurrentActivityTaskExecutions: ACTIVITIES_AT_ONCE,
      maxHeartbeatThrottleInterval: "500ms",
      defaultHeartbeatThrottleInterval: "500ms",
    }),
  ]);
}
