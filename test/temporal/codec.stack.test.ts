/**
 * What workers do with payloads that cannot be sealed, or that nobody of ours has sealed for them: one work
 * suffers, the worker serves on.
 */
import { randomUUID } from "node:crypto";
import type { Payload } from "@temporalio/common";
import proto from "@temporalio/proto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DomainError } from "../../src/domain/errors.ts";
import type { PayloadKind } from "../../src/domain/payloads/places.ts";
import { deletionWorkflowId } from "../../src/domain/work/workflow-ids.ts";
import { ensureSchedules } from "../../src/temporal/schedules.ts";
import {
  type SealedWorkers,
  TYPES,
  type TestCutOver,
  encodingsOf,
  memoryKeyring,
  notingActivities,
  plain,
  startSealedWorkers,
} from "../support/workflows/sealed-workers.ts";
import { until } from "../support/until.ts";

const down = new DomainError("database_unavailable", "Postgres is away.");
const gone = new DomainError("not_found", "The organization was deleted.");
const { keyring, unreadable } = memoryKeyring();
const cutOver: TestCutOver = { at: null };

const { activities, during, attempts, served, held } = notingActivities();

let sealed: SealedWorkers;
beforeAll(async () => void (sealed = await startSealedWorkers(keyring, cutOver, activities)));
afterAll(() => {
  for (const one of held.values()) one.resolve();
  return sealed.close();
});

const states = (): Set<string> => new Set(sealed.workers.map((worker) => worker.getState()));

function startDeletion(organizationId: string) {
  const deletionId = randomUUID();
  return sealed.client.workflow.start<(input: object) => Promise<number>>("deleteTarget", {
    taskQueue: sealed.taskQueue,
    workflowId: deletionWorkflowId(organizationId, deletionId),
    args: [{ organization: { id: organizationId, num: 1 }, deletionId }],
  });
}

const newWorkflow = (name = "test"): string => `${name}/${randomUUID()}/${randomUUID()}`;
const startListening = (workflowId = newWorkflow()) =>
  sealed.client.workflow.start<(text: string) => Promise<string[]>>("listens", {
    taskQueue: `${sealed.taskQueue}-tests`,
    workflowId,
    args: ["first"],
  });

async function startOld(workflowId: string) {
  return sealed.oldClient.workflow.start<(text: string) => Promise<string[]>>("listens", {
    taskQueue: `${sealed.taskQueue}-tests`,
    workflowId,
    args: ["first"],
  });
}

test("the old form is written until the cut-over; what began before it ends with it, and what begins after it is refused", async () => {
  const before = await startOld(newWorkflow());
  await before.signal("say", "old");
  const unbound = await startListening();
  await unbound.signal("hush");
  expect(await unbound.result()).toEqual(["first"]);
  expect(encodingsOf(await unbound.fetchHistory())).toEqual(new Set(["binary/holdfast-aes256gcm"]));
  // The old form is taken for a minute longer than the cut-over.
  const { startTime } = await before.describe();
  cutOver.at = new Date(startTime.getTime() + 1 - 60_000);
  await before.signal("say", "older");
  const after = newWorkflow();
  await startOld(after);
  expect(await sealed.endOf(after)).toEqual(["forged"]);
  expect(sealed.refused).toContainEqual({
    workflow_id: after,
    type: "listens",
    what: "input",
    reason: "old_form",
  });
  await sealed.client.workflow.getHandle(before.workflowId).signal("hush");
  expect(await sealed.client.workflow.getHandle(before.workflowId).result()).toEqual([
    "first",
    "old",
    "older",
  ]);
});

describe("keys", () => {
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
    expect(states()).toEqual(new Set(["RUNNING"]));
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

  test("an organization has no key any more: its work fails for good, sealed with the instance's key, and the worker serves others", async () => {
    const [hit, other] = [randomUUID(), randomUUID()];
    during.set(hit, () => {
      unreadable.set(hit, gone);
      keyring.forget(hit);
      throw gone;
    });
    const handle = await startDeletion(hit);
    expect(await sealed.endOf(handle.workflowId)).toEqual(["", "forged"]);
    expect(attempts.get(hit)).toBe(1);
    expect(await (await startDeletion(other)).result()).toBe(1);
    expect(states()).toEqual(new Set(["RUNNING"]));
  });
});

describe("a workflow that somebody else has started", () => {
  test.each(TYPES)(
    "%s fails for good, whatever it was given, and none of its activities runs",
    async (type) => {
      const input = {
        organization: { id: randomUUID(), num: 1 },
        claimId: randomUUID(),
        turnIds: [],
        calls: [],
        apiQueue: "x",
        toolQueue: "x",
        caller: {},
      };
      const forged: Record<string, (own: string) => Payload[] | Promise<Payload[]>> = {
        nothing: () => [],
        plain: () => [plain(input)],
        foreign: () => sealed.seal(newWorkflow(), { kind: "input", name: type }, [input]),
        copied: (own) => sealed.seal(`${own}0`, { kind: "input", name: type }, [input]),
        "of another type": (own) => sealed.seal(own, { kind: "input", name: "listens" }, [input]),
        "another argument's": async (own) =>
          (await sealed.seal(own, { kind: "input", name: type }, [0, input])).slice(1),
      };
      for (const [what, make] of Object.entries(forged)) {
        const own = newWorkflow();
        await sealed.startBare(type, own, await make(own));
        expect({ what, ended: await sealed.endOf(own) }).toEqual({
          what,
          ended: expect.arrayContaining(["forged"]),
        });
        expect(served.has(own)).toBe(false);
      }
      // What is logged of them has nothing of what they were given.
      expect(JSON.stringify(sealed.refused)).not.toContain(input.claimId);
      expect(await (await startDeletion(randomUUID())).result()).toBe(1);
    },
  );

  test("the types are all of the service", async () => {
    expect(Object.keys(await import("../../src/workflows/index.ts")).toSorted()).toEqual(TYPES.toSorted());
  });

  test("a payload of the same workflow that is something else is no input of it", async () => {
    const kinds: PayloadKind[] = [
      "child",
      "result",
      "signal",
      "update",
      "update-result",
      "query",
      "query-result",
      "failure",
      "note",
    ];
    const own = newWorkflow();
    for (const kind of kinds) {
      await sealed.startBare("listens", own, await sealed.seal(own, { kind, name: "listens" }, ["text"]));
      expect({ kind, ended: await sealed.endOf(own) }).toEqual({ kind, ended: ["forged"] });
    }
    for (const kind of ["activity-input", "activity-result", "local-activity-input", "heartbeat"] as const) {
      await sealed.startBare(
        "listens",
        own,
        await sealed.seal(own, { kind, name: "listens" }, ["text"], "1"),
      );
      expect({ kind, ended: await sealed.endOf(own) }).toEqual({ kind, ended: ["forged"] });
    }
    await sealed.startBare(
      "listens",
      own,
      await sealed.seal(own, { kind: "input", name: "listens" }, ["text"]),
    );
    await sealed.client.workflow.getHandle(own).signal("hush");
    expect(await sealed.client.workflow.getHandle(own).result()).toEqual(["text"]);
  });

  test("a schedule that somebody else has written is written anew", async () => {
    const action = {
      type: "startWorkflow",
      workflowType: "maintenance",
      workflowId: "maintenance",
      taskQueue: "nobody",
      args: [{ isThorough: true }],
    } as const;
    await sealed.bare.schedule.create({
      scheduleId: "maintenance",
      spec: { intervals: [{ every: "1 day" }] },
      action,
    });
    await ensureSchedules(sealed.client);
    const { action: mended } = await sealed.client.schedule.getHandle("maintenance").describe();
    expect(mended).toMatchObject({ taskQueue: "pipeline", args: [{ isThorough: false }] });
    for (const id of ["maintenance", "maintenance-thorough", "index-upkeep"])
      await sealed.client.schedule.getHandle(id).delete();
  });
});

describe("a workflow of ours that somebody else speaks to", () => {
  /** Plain, without anything, and sealed for other places. */
  const forgeries = async (
    own: string,
    kind: "signal" | "query" | "update",
    name: string,
  ): Promise<Payload[][]> => [
    [plain("forged")],
    ...(kind === "query" ? [] : [[]]),
    await sealed.seal(newWorkflow(), { kind, name }, ["forged"]),
    await sealed.seal(`${own}0`, { kind, name }, ["forged"]),
    await sealed.seal(own, { kind: "input", name: "listens" }, ["forged"]),
    await sealed.seal(own, { kind, name: "other" }, ["forged"]),
  ];

  test("drops their signals", async () => {
    const handle = await startListening();
    const { workflowId } = handle;
    for (const payloads of await forgeries(workflowId, "signal", "say"))
      await sealed.bare.workflowService.signalWorkflowExecution({
        namespace: "default",
        workflowExecution: { workflowId },
        signalName: "say",
        input: { payloads },
      });
    await handle.signal("say", "honest");
    await handle.signal("hush");
    expect(await handle.result()).toEqual(["first", "honest"]);
  });

  test("answers none of their queries but one without arguments, whose answer is sealed", async () => {
    const handle = await startListening();
    const { workflowId } = handle;
    const ask = (payloads: Payload[]) =>
      sealed.bare.workflowService.queryWorkflow({
        namespace: "default",
        execution: { workflowId },
        query: { queryType: "heard", queryArgs: { payloads } },
      });
    for (const payloads of await forgeries(workflowId, "query", "heard"))
      await expect(ask(payloads)).rejects.toThrow(/Encoded failure/);
    const { queryResult } = await ask([]);
    expect(Buffer.from(queryResult!.payloads![0]!.metadata!["encoding"]!).toString()).toBe(
      "binary/holdfast-aes256gcm-bound",
    );
    expect(await handle.query("heard", "more")).toEqual(["first", "more"]);
    await handle.signal("hush");
  });

  test("refuses their updates", async () => {
    const handle = await startListening();
    const { workflowId } = handle;
    const { UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED: lifecycleStage } =
      proto.temporal.api.enums.v1.UpdateWorkflowExecutionLifecycleStage;
    for (const payloads of await forgeries(workflowId, "update", "shout")) {
      const request = { meta: { updateId: randomUUID() }, input: { name: "shout", args: { payloads } } };
      const { outcome } = await sealed.bare.workflowService.updateWorkflowExecution({
        namespace: "default",
        workflowExecution: { workflowId },
        waitPolicy: { lifecycleStage },
        request,
      });
      expect(outcome?.failure?.applicationFailureInfo?.type).toBe("forged");
    }
    expect(await handle.executeUpdate<string, [string]>("shout", { args: ["honest"] })).toBe("honest");
    await handle.signal("hush");
    expect(await handle.result()).toEqual(["first", "honest"]);
  });

  /**
   * A workflow whose first activity waits, so that somebody else may answer for it: Temporal takes that from
   * whoever names the activity.
   */
  async function startWaiting() {
    const workflowId = newWorkflow();
    held.set(workflowId, Promise.withResolvers());
    await sealed.client.workflow.start("echoes", {
      taskQueue: `${sealed.taskQueue}-tests`,
      workflowId,
      args: ["honest"],
    });
    await until("the activity waits", () => served.has(workflowId));
    const [pending] = (await sealed.bare.workflow.getHandle(workflowId).describe()).raw.pendingActivities!;
    return { workflowId, activityId: pending!.activityId!, letGo: () => held.get(workflowId)!.resolve() };
  }

  test("takes no result of theirs for its activity's", async () => {
    const place = { kind: "activity-result", name: "echo" } as const;
    const forged: Array<(own: string, activityId: string) => Payload[] | Promise<Payload[]>> = [
      () => [plain("forged")],
      (_own, activityId) => sealed.seal(newWorkflow(), place, ["forged"], activityId),
      (own) => sealed.seal(own, place, ["forged"], "another"),
      (own, activityId) => sealed.seal(own, { kind: "activity-input", name: "echo" }, ["forged"], activityId),
    ];
    for (const make of forged) {
      const { workflowId, activityId, letGo } = await startWaiting();
      const result = { payloads: await make(workflowId, activityId) };
      await sealed.bare.workflowService.respondActivityTaskCompletedById({
        namespace: "default",
        workflowId,
        activityId,
        result,
      });
      expect(await sealed.endOf(workflowId)).toEqual(["forged"]);
      letGo();
    }
  });

  test("can be made to fail by them, but reads no text of theirs", async () => {
    const { workflowId, activityId, letGo } = await startWaiting();
    const failure = {
      message: "forged text",
      applicationFailureInfo: {
        type: "ForgedType",
        nonRetryable: true,
        details: { payloads: [plain("forged text")] },
      },
    };
    await sealed.bare.workflowService.respondActivityTaskFailedById({
      namespace: "default",
      workflowId,
      activityId,
      failure,
    });
    expect(await sealed.endOf(workflowId)).toEqual(["", "forged"]);
    const error = await sealed.client.workflow
      .getHandle(workflowId)
      .result()
      .catch((thrown: Error) => thrown);
    for (let cause = error as Error | undefined; cause; cause = cause.cause as Error | undefined)
      expect(`${cause.message}${cause.stack}`).not.toContain("forged text");
    letGo();
  });

  test("an activity that no workflow has asked for does not run", async () => {
    const [activityId, seconds] = [randomUUID(), { seconds: 30 as never }];
    const request = {
      namespace: "default",
      requestId: randomUUID(),
      activityId,
      taskQueue: { name: "embed" },
      startToCloseTimeout: seconds,
      input: { payloads: [plain({})] },
    };
    const started = await sealed.bare.workflowService
      .startActivityExecution({ ...request, activityType: { name: "listSpacesToTend" } })
      .catch((error: Error) => error);
    // A server that has no such activities keeps us from them too.
    if (started instanceof Error)
      expect(started.message).toMatch(/unimplemented|not enabled|disabled|unknown/i);
    else {
      await until("it was refused", () =>
        sealed.refused.some(({ workflow_id, type }) => workflow_id === "" && type === "listSpacesToTend"),
      );
      expect(served.has("")).toBe(false);
    }
  });
});
