/** What a worker does whose payloads cannot be sealed: its SDK would end it, and with it what it does for everybody else. */
import { randomBytes, randomUUID } from "node:crypto";
import { Client, Connection } from "@temporalio/client";
import { NativeConnection, Worker } from "@temporalio/worker";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DomainError } from "../../src/domain/errors.ts";
import { deletionWorkflowId } from "../../src/domain/workflow-ids.ts";
import { createKeyring, localMasterKey } from "../../src/storage/keyring.ts";
import { createPayloadSealer, sealerForWorkers } from "../../src/storage/payload-sealer.ts";
import { createDataConverter } from "../../src/temporal/codec.ts";
import { registerSearchAttributes } from "../../src/temporal/search-attributes.ts";
import { quietRuntime } from "../support/temporal-runtime.ts";
import { workflowBundle } from "../../src/worker/bundle.ts";
import { until } from "../support/until.ts";

const taskQueue = `codec-${randomUUID()}`;
const down = new DomainError("database_unavailable", "Postgres is away.");
const gone = new DomainError("not_found", "The organization was deleted.");

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
const sealer = createPayloadSealer(keyring, randomBytes(32));

/** What happens while an organization's activity runs; the worker has to seal whatever comes of it. */
const during = new Map<string, (attempt: number) => void>();
const attempts = new Map<string, number>();
const activities = {
  async purgeStep({ organization: { id } }: { organization: { id: string } }) {
    const attempt = (attempts.get(id) ?? 0) + 1;
    attempts.set(id, attempt);
    during.get(id)?.(attempt);
    return { done: true, purged: attempt };
  },
};

let connection: Connection;
let client: Client;
let core: NativeConnection;
let workers: Worker[];
let running: Promise<unknown>;

beforeAll(async () => {
  quietRuntime();
  // oxlint-disable-next-line node/no-process-env -- the set-up of the tests hands the server over in it
  const address = process.env["HOLDFAST_TEST_TEMPORAL_ADDRESS"] ?? "";
  connection = await Connection.connect({ address });
  client = new Client({ connection, dataConverter: createDataConverter(sealer) });
  await registerSearchAttributes(client, "default");
  core = await NativeConnection.connect({ address });
  const shared = { connection: core, dataConverter: createDataConverter(sealerForWorkers(sealer)) };
  workers = await Promise.all([
    Worker.create({ ...shared, taskQueue, workflowBundle: await workflowBundle() }),
    // The queue that the workflow names.
    Worker.create({ ...shared, taskQueue: "embed", activities }),
  ]);
  running = Promise.all(workers.map((worker) => worker.run()));
});

afterAll(async () => {
  for (const worker of workers) if (worker.getState() === "RUNNING") worker.shutdown();
  await running;
  await core.close();
  await connection.close();
});

function startDeletion(organizationId: string) {
  const deletionId = randomUUID();
  return client.workflow.start<(input: object) => Promise<number>>("deleteTarget", {
    taskQueue,
    workflowId: deletionWorkflowId(organizationId, deletionId),
    args: [{ organization: { id: organizationId, num: 1 }, deletionId }],
  });
}

const states = (): string[] => workers.map((worker) => worker.getState());

test("keys cannot be read while an activity fails: the worker serves others and goes on once they can", async () => {
  const [hit, other] = [randomUUID(), randomUUID()];
  during.set(hit, (attempt) => {
    if (attempt > 1) return;
    unreadable.set(hit, down);
    keyring.forget(hit);
    throw down;
  });
  const handle = await startDeletion(hit);
  await until("the activity has failed", () => attempts.get(hit) === 1);
  expect(await (await startDeletion(other)).result()).toBe(1);
  expect(states()).toEqual(["RUNNING", "RUNNING"]);
  unreadable.delete(hit);
  expect(await handle.result()).toBe(2);
});

test("keys cannot be read while a result is sealed: it is kept until they can, and nothing is done twice", async () => {
  const hit = randomUUID();
  during.set(hit, () => {
    unreadable.set(hit, down);
    keyring.forget(hit);
  });
  const handle = await startDeletion(hit);
  await until("the activity has run", () => attempts.get(hit) === 1);
  during.delete(hit);
  unreadable.delete(hit);
  expect(await handle.result()).toBe(1);
});

test("an organization has no key any more: what its activity fails with is sealed with the instance's, and the worker serves others", async () => {
  const [hit, other] = [randomUUID(), randomUUID()];
  during.set(hit, () => {
    unreadable.set(hit, gone);
    keyring.forget(hit);
    throw gone;
  });
  const handle = await startDeletion(hit);
  // Its second attempt ends before the activity is called: what it was given cannot be opened.
  await until("the activity is tried a third time, or a worker has ended", async () => {
    const [pending] = (await handle.describe()).raw.pendingActivities ?? [];
    return (pending?.attempt ?? 0) > 2 || states().includes("FAILED");
  });
  expect(await (await startDeletion(other)).result()).toBe(1);
  expect(states()).toEqual(["RUNNING", "RUNNING"]);
  await handle.terminate();
});
