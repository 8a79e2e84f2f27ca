/** The two Temporal workers in an API process: for workflows of turns, and for its turns' activities. */
import type { Client } from "@temporalio/client";
import {
  type DataConverter,
  type NativeConnection,
  Worker,
  type WorkflowBundleOption,
} from "@temporalio/worker";
import type { WorkerHooks } from "./hooks.ts";
import { processIdentity } from "./seals/identity.ts";
import { eagerClient } from "./start/chat.ts";

interface ChatHostSettings {
  /** Tries until it is connected; rejects when `signal` aborts. */
  readonly connect: (signal: AbortSignal) => Promise<NativeConnection>;
  readonly namespace: string;
  /** For the client that starts turns. */
  readonly dataConverter: DataConverter;
  readonly workerDataConverter: DataConverter;
  readonly workerHooks: WorkerHooks;
  readonly workflowBundle: () => Promise<WorkflowBundleOption>;
  readonly queues: { readonly chat: string; readonly api: string };
  /** Functions by the name of the activity. */
  readonly activities: object;
  /** Called with true when the workers poll, and with false when they have stopped. */
  readonly onConnected: (isConnected: boolean) => void;
  /** Called when workers stopped by themselves; they are then started again. */
  readonly onError: (error: unknown) => void;
}

export interface ChatWorkers {
  /** The client that starts workflows eagerly. @throws Error before the first connection. */
  client(): Client;
  /** Resolves when the workers poll for the first time. */
  readonly ready: Promise<void>;
  /** Stops polling, and waits up to ten seconds for running activities. */
  shutdown(): Promise<void>;
}

const RESTART_MS = 1_000;
/** How soon another process takes over a workflow of a process that died. */
const STICKY_TIMEOUT = "1s";
/** Each bookkeeping workflow, and each model call after tools, keeps an idle activity open. */
const ACTIVITIES_AT_ONCE = 2_000;
/** The second and later model calls of a turn each keep a workflow task open. */
const WORKFLOW_TASKS_AT_ONCE = 1_000;
const WORKFLOWS_CACHED = 1_000;
const GRACE = "10 seconds" as const;

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
      // A shutdown may have come while the workers were being made.
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
    identity: processIdentity(),
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
