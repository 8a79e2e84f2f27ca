/** Whatever an activity throws, the log has its cause by ids before Temporal gets a failure without one. */
import { type Context, asyncLocalStorage } from "@temporalio/activity";
import { ApplicationFailure, CancelledFailure } from "@temporalio/common";
import { beforeEach, expect, test } from "vitest";
import { NO_TURNS, createChatActivities } from "../../src/activities/chat.ts";
import { createActivities } from "../../src/activities/index.ts";
import { DomainError } from "../../src/domain/errors.ts";
import { newId } from "../../src/domain/ids.ts";
import { ONLY } from "../../src/domain/payloads/places.ts";
import { openedValue } from "../../src/domain/payloads/values.ts";
import { createLog } from "../../src/process/log.ts";
import { activityFailures } from "../../src/telemetry/instruments.ts";
import { createWorkerHooks } from "../../src/temporal/hooks.ts";

const CANARY = "canary of a document";

class Thrown extends Error {
  readonly detail = CANARY;
}

/** Whatever is called of it, however deep, throws. */
const broken: object = new Proxy(() => undefined, {
  get: (_target, name) => (name === "then" ? undefined : broken),
  apply() {
    throw new Thrown(`first line\n${CANARY}`);
  },
});

let lines: string[];
const log = createLog({
  level: "info",
  name: "test",
  destination: { write: (line) => void lines.push(line) },
});

type Activity = (input: unknown) => Promise<unknown>;
/** The activities of all workers and of API processes, as they are registered. */
const REGISTERED: Record<string, Activity> = {
  ...createActivities(new Proxy({} as never, { get: (_deps, name) => (name === "log" ? log : broken) })),
  ...createChatActivities(Object.fromEntries(Object.keys(NO_TURNS).map((name) => [name, broken])) as never),
} as never;

const organization = { id: newId(), num: 1 };
const ids = { claimId: newId(), turnId: newId(), deletionId: newId(), operationId: newId(), isolated: false };
const turns = [newId()];

beforeEach(() => {
  lines = [];
  activityFailures.reset();
});

interface Ran {
  readonly name: string;
  readonly activity: Activity;
  readonly input?: unknown;
  readonly attempt?: number;
  readonly cancelled?: { readonly requested: boolean };
}

/** Runs it as a worker of ours does, with all interceptors. @returns what Temporal gets. */
async function failureOf({ name, activity, input, attempt = 1, cancelled }: Ran): Promise<unknown> {
  const abort = new AbortController();
  if (cancelled !== undefined) abort.abort(new CancelledFailure("cancelled"));
  const info = {
    activityType: name,
    activityId: "7",
    attempt,
    isLocal: false,
    scheduledTimestampMs: 1,
    retryPolicy: { maximumAttempts: 3 },
    workflowExecution: { workflowId: "operation/1", runId: "run" },
  };
  const context = {
    info,
    heartbeat: () => undefined,
    cancellationSignal: abort.signal,
    cancellationDetails: { cancelRequested: cancelled?.requested === true },
  } as unknown as Context;
  const hooks = createWorkerHooks(log);
  const chain = hooks.interceptors.activity.map((create) => create(context).inbound!.execute!);
  const place = { kind: "activity-input", name, slot: ONLY } as const;
  const args = [openedValue(input, { form: "bound", place })];
  const run = chain.reduceRight<(given: { args: unknown[] }) => Promise<unknown>>(
    (next, execute) => (given) => execute({ headers: {}, ...given } as never, next as never),
    ({ args: [value] }) => activity(value),
  );
  return asyncLocalStorage.run(context, () =>
    run({ args }).then(
      () => undefined,
      (failure: unknown) => failure,
    ),
  );
}

const said = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
const counted = async () => (await activityFailures.get()).values.map(({ labels }) => labels);

test.each(Object.entries(REGISTERED))(
  "%s: what it throws is one line, with its ids",
  async (name, activity) => {
    const input = name === "adoptTurns" ? turns : { organization, ...ids, caller: { organization } };
    const failure = await failureOf({ name, activity, input });
    expect(failure).toMatchObject({ type: "internal", message: expect.stringContaining("worker's log") });
    expect(failure).toBeInstanceOf(ApplicationFailure);
    const failed = said().filter(({ msg }) => msg === "an activity failed");
    expect(failed).toMatchObject([
      {
        level: "error",
        activity: name,
        attempt: 1,
        activity_id: "7",
        workflow_id: "operation/1",
        workflow_run_id: "run",
        code: "internal",
        err: { type: "Thrown", stack: expect.stringContaining("failures.test.ts") },
      },
    ]);
    expect(failed[0]!["organization_id"]).toBe(name === "adoptTurns" ? null : organization.id);
    expect(lines.join("")).not.toContain("canary");
    expect(await counted()).toEqual([{ activity: name, code: "internal", last: "false" }]);
  },
);

const throwing =
  (error: unknown): Activity =>
  () =>
    Promise.reject(error as Error);

test("an outage is a warning, what nothing can help is information, and both keep code and message", async () => {
  const outage = new DomainError("storage_unavailable", "The object store is not available.");
  expect(await failureOf({ name: "purgeStep", activity: throwing(outage) })).toMatchObject({
    type: "storage_unavailable",
    message: "The object store is not available.",
    nonRetryable: false,
  });
  const hopeless = new DomainError("not_found", "It is gone.");
  expect(await failureOf({ name: "purgeStep", activity: throwing(hopeless) })).toMatchObject({
    type: "not_found",
    nonRetryable: true,
  });
  expect(said().map(({ level, code }) => [level, code])).toEqual([
    ["warn", "storage_unavailable"],
    ["info", "not_found"],
  ]);
});

test("a cancel that was asked for stays one; a worker that stops leaves the step to another attempt", async () => {
  const abort = throwing(new DOMException("This operation was aborted", "AbortError"));
  const asked = await failureOf({ name: "tendSpace", activity: abort, cancelled: { requested: true } });
  expect(asked).toBeInstanceOf(CancelledFailure);
  const stopped = await failureOf({ name: "tendSpace", activity: abort, cancelled: { requested: false } });
  expect(stopped).toMatchObject({ type: "internal", nonRetryable: false });
  expect(said()[0]).toMatchObject({ level: "info", code: "cancelled" });
});

test("the metric tells the last attempt of a step, which its workflow then leaves out", async () => {
  await failureOf({ name: "maintainInstance", activity: throwing(new Thrown("x")), attempt: 3 });
  expect(await counted()).toEqual([{ activity: "maintainInstance", code: "internal", last: "true" }]);
});
