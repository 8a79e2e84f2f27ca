/**
 * Starts clients and workers with their own keys for seals: they run every workflow of the service and those
 * of tests, with activities that record what reaches them.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { Context } from "@temporalio/activity";
import { Client, Connection } from "@temporalio/client";
import type { Payload } from "@temporalio/common";
import {
  encodeToPayloadsWithContext,
  loadDataConverter,
} from "@temporalio/common/lib/internal-non-workflow/index.js";
import { DefaultLogger, NativeConnection, Worker, bundleWorkflowCode } from "@temporalio/worker";
import type { DomainError } from "../../../src/domain/errors.ts";
import type { Place } from "../../../src/domain/payloads/places.ts";
import { placedArguments } from "../../../src/domain/payloads/values.ts";
import { type Keyring, createKeyring, localMasterKey } from "../../../src/storage/keys/keyring.ts";
import { createPayloadSealer, sealerForWorkers } from "../../../src/storage/keys/payload-sealer.ts";
import { createLog } from "../../../src/process/log.ts";
import { createDataConverter, createWorkerDataConverter } from "../../../src/temporal/codec.ts";
import { clientHooks, createWorkerHooks } from "../../../src/temporal/hooks.ts";
import type { ReportRefused } from "../../../src/temporal/seals/interceptors.ts";
import { registerSearchAttributes } from "../../../src/temporal/search-attributes.ts";
import {
  FAILURE_CONVERTER_PATH,
  WORKFLOW_INTERCEPTORS,
  workflowBundle,
} from "../../../src/temporal/workflow-bundle.ts";
import { quietRuntime } from "./temporal-runtime.ts";
import { until } from "../until.ts";

/** The types of all workflows of the service. */
export const TYPES = [
  "batchReprocess",
  "chatTurn",
  "chatTurns",
  "deleteTarget",
  "documentPipeline",
  "indexUpkeep",
  "operation",
  "maintenance",
  "webhookDelivery",
];

type Refused = Parameters<ReportRefused>[0];
type Activity = (...args: any[]) => Promise<unknown>;

/** Makes a keyring in memory. */
export function memoryKeyring() {
  /** Organizations whose keys cannot be read, and why. */
  const unreadable = new Map<string, DomainError>();
  const keys = new Map<string, { id: string; wrapped: Buffer; isCurrent: boolean }>();
  const keyring = createKeyring({
    master: localMasterKey(randomBytes(32)),
    async load(organizationId) {
      const error = unreadable.get(organizationId);
      if (error !== undefined) throw error;
      const key = keys.get(organizationId);
      return key === undefined ? [] : [key];
    },
    async create(organizationId, key) {
      keys.set(organizationId, { ...key, isCurrent: true });
    },
  });
  return { keyring, unreadable };
}

export interface SealedWorkers {
  readonly client: Client;
  /** Has no key, like anybody who may call Temporal. */
  readonly bare: Client;
  readonly workers: readonly Worker[];
  /** The queue of the service's workflows, chat included. */
  readonly taskQueue: string;
  readonly refused: Refused[];
  /** Seals `values` for this place of this workflow, wherever the test then puts them. */
  seal(
    workflowId: string,
    place: Omit<Place, "slot">,
    values: readonly unknown[],
    activityId?: string,
  ): Promise<Payload[]>;
  /** Starts a workflow with any payloads, as anybody who may call Temporal can. */
  startBare(type: string, workflowId: string, payloads: Payload[]): Promise<void>;
  /** Waits until the workflow has ended. @returns the types of its failure and of the failure's causes. */
  endOf(workflowId: string): Promise<string[]>;
  close(): Promise<void>;
}

/** @param activities those of all queues that workflows of the service name. */
export async function startSealedWorkers(
  keyring: Keyring,
  activities: Record<string, Activity>,
): Promise<SealedWorkers> {
  quietRuntime();
  const address = process.env["HOLDFAST_TEST_TEMPORAL_ADDRESS"] ?? "";
  const sealer = createPayloadSealer(keyring, randomBytes(32));
  const refused: Refused[] = [];
  const log = createLog({
    level: "warn",
    name: "test",
    destination: {
      write(line) {
        const { msg, workflow_id, type, what, reason } = JSON.parse(line) as { msg: string } & Refused;
        if (msg === "refused payload") refused.push({ workflow_id, type, what, reason });
      },
    },
  });
  const taskQueue = `sealed-${randomUUID()}`;
  const connection = await Connection.connect({ address });
  const bare = new Client({ connection });
  const sealing = createDataConverter(sealer);
  const client = new Client({ connection, dataConverter: sealing, interceptors: clientHooks });
  await registerSearchAttributes(client, "default");
  const core = await NativeConnection.connect({ address });
  const dataConverter = createWorkerDataConverter(sealerForWorkers(sealer));
  const shared = {
    ...createWorkerHooks(log),
    connection: core,
    dataConverter,
  };
  const workers = await Promise.all([
    Worker.create({
      ...shared,
      taskQueue,
      workflowBundle: await workflowBundle(),
      activities,
      enableNonLocalActivities: false,
    }),
    Worker.create({
      ...shared,
      taskQueue: `${taskQueue}-tests`,
      workflowBundle: await testBundle(),
      activities,
      enableNonLocalActivities: false,
    }),
    ...["parse", "embed", "isolated", "webhooks", "seals-echo"].map((queue) =>
      Worker.create({ ...shared, taskQueue: queue, activities }),
    ),
  ]);
  const running = Promise.all(workers.map((worker) => worker.run()));
  return {
    client,
    bare,
    workers,
    taskQueue,
    refused,
    async seal(workflowId, place, values, activityId) {
      const own = { namespace: "default", workflowId };
      const context =
        activityId === undefined
          ? ({ ...own, type: "workflow" } as const)
          : ({ ...own, type: "activity", activityId, isLocal: place.kind.startsWith("local") } as const);
      return (await encodeToPayloadsWithContext(
        loadDataConverter(sealing),
        context,
        placedArguments(values, place),
      ))!;
    },
    async startBare(type, workflowId, payloads) {
      const queue = { name: TYPES.includes(type) ? taskQueue : `${taskQueue}-tests` };
      const request = {
        namespace: "default",
        workflowId,
        requestId: randomUUID(),
        workflowType: { name: type },
        taskQueue: queue,
        input: { payloads },
      };
      await bare.workflowService.startWorkflowExecution(request);
    },
    async endOf(workflowId) {
      const handle = bare.workflow.getHandle(workflowId);
      await until(`${workflowId} has ended`, async () => (await handle.describe()).status.name !== "RUNNING");
      const last = (await handle.fetchHistory()).events!.at(-1)!;
      const types: string[] = [];
      for (
        let failure = last.workflowExecutionFailedEventAttributes?.failure;
        failure;
        failure = failure.cause
      )
        types.push(failure.applicationFailureInfo?.type ?? "");
      return types;
    },
    async close() {
      for (const worker of workers) if (worker.getState() === "RUNNING") worker.shutdown();
      await running;
      await core.close();
      await connection.close();
    },
  };
}

async function testBundle() {
  return bundleWorkflowCode({
    workflowsPath: join(import.meta.dirname, "sealed-workflows.ts"),
    workflowInterceptorModules: WORKFLOW_INTERCEPTORS,
    failureConverterPath: FAILURE_CONVERTER_PATH,
    logger: new DefaultLogger("ERROR"),
  });
}

/** Makes a payload without a seal. */
export const plain = (value: unknown): Payload => ({
  metadata: { encoding: Buffer.from("json/plain") },
  data: Buffer.from(JSON.stringify(value)),
});

const NOTED = [
  "prepareDocuments",
  "embedAndPublish",
  "stepBatch",
  "listOrganizations",
  "maintainInstance",
  "maintainOrganization",
  "listSpacesToTend",
  "tendSpace",
  "operationStep",
  "runTool",
  "callModel",
  "adoptTurns",
  "deliverWebhook",
];

/** Makes activities for all queues that record what reaches them. */
export function notingActivities() {
  /** Called while an organization's activity runs; the worker has to seal its result or error. */
  const during = new Map<string, (attempt: number) => void>();
  const attempts = new Map<string, number>();
  /** Ids of the workflows whose activities have run; empty for an activity that no workflow asked for. */
  const served = new Set<string>();
  /** Activities that wait for the test, by the id of their workflow. */
  const held = new Map<string, PromiseWithResolvers<void>>();

  async function note(): Promise<unknown> {
    served.add(Context.current().info.workflowExecution?.workflowId ?? "");
    return [];
  }

  const activities = {
    async purgeStep({ organization: { id } }: { organization: { id: string } }) {
      const attempt = (attempts.get(id) ?? 0) + 1;
      attempts.set(id, attempt);
      served.add(Context.current().info.workflowExecution!.workflowId);
      during.get(id)?.(attempt);
      return { done: true, purged: attempt };
    },
    async echo(text: string) {
      const { workflowId } = Context.current().info.workflowExecution!;
      served.add(workflowId);
      await held.get(workflowId)?.promise;
      return echo(text);
    },
    echoHere: echo,
    ...Object.fromEntries(NOTED.map((name) => [name, note])),
  };
  return { activities, during, attempts, served, held };
}

/** Sends a heartbeat and returns the text. */
async function echo(text: string): Promise<string> {
  Context.current().heartbeat({ text });
  return text;
}
