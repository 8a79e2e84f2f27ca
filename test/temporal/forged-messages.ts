/**
 * Tests that workflows take no signal, query, update or result from somebody else. codec.stack.test.ts runs
 * them on its own workers, because workers of two files would take each other's activities.
 */
import { randomUUID } from "node:crypto";
import type { Payload } from "@temporalio/common";
import proto from "@temporalio/proto";
import { expect, test } from "vitest";
import { listenOn, newWorkflow } from "../support/workflows/listening.ts";
import { type notingActivities, plain, type SealedWorkers } from "../support/workflows/sealed-workers.ts";
import { until } from "../support/until.ts";

type Noted = Pick<ReturnType<typeof notingActivities>, "served" | "held">;
type ForgedKind = "signal" | "query" | "update";

/** Makes payloads that are plain, missing, or sealed for other places. */
async function forgeries(
  sealed: SealedWorkers,
  own: string,
  kind: ForgedKind,
  name: string,
): Promise<Payload[][]> {
  return [
    [plain("forged")],
    ...(kind === "query" ? [] : [[]]),
    await sealed.seal(newWorkflow(), { kind, name }, ["forged"]),
    await sealed.seal(`${own}0`, { kind, name }, ["forged"]),
    await sealed.seal(own, { kind: "input", name: "listens" }, ["forged"]),
    await sealed.seal(own, { kind, name: "other" }, ["forged"]),
  ];
}

/**
 * Starts a workflow whose first activity waits, so that somebody else may answer for it: Temporal accepts a
 * result from anybody who names the activity.
 */
async function startWaiting(sealed: SealedWorkers, { served, held }: Noted) {
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

/** Registers the tests of messages; `workers` is called only while tests run. */
export function describeForgedMessages(workers: () => SealedWorkers): void {
  test("drops their signals", async () => {
    const handle = await listenOn(workers(), newWorkflow());
    const { workflowId } = handle;
    for (const payloads of await forgeries(workers(), workflowId, "signal", "say"))
      await workers().bare.workflowService.signalWorkflowExecution({
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
    const handle = await listenOn(workers(), newWorkflow());
    const { workflowId } = handle;
    const ask = (payloads: Payload[]) =>
      workers().bare.workflowService.queryWorkflow({
        namespace: "default",
        execution: { workflowId },
        query: { queryType: "heard", queryArgs: { payloads } },
      });
    for (const payloads of await forgeries(workers(), workflowId, "query", "heard"))
      await expect(ask(payloads)).rejects.toThrow(/Encoded failure/);
    const { queryResult } = await ask([]);
    expect(Buffer.from(queryResult!.payloads![0]!.metadata!["encoding"]!).toString()).toBe(
      "binary/holdfast-aes256gcm-bound",
    );
    expect(await handle.query("heard", "more")).toEqual(["first", "more"]);
    await handle.signal("hush");
  });

  test("refuses their updates", async () => {
    const handle = await listenOn(workers(), newWorkflow());
    const { workflowId } = handle;
    const { UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED: lifecycleStage } =
      proto.temporal.api.enums.v1.UpdateWorkflowExecutionLifecycleStage;
    for (const payloads of await forgeries(workers(), workflowId, "update", "shout")) {
      const request = { meta: { updateId: randomUUID() }, input: { name: "shout", args: { payloads } } };
      const { outcome } = await workers().bare.workflowService.updateWorkflowExecution({
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
}

/** Registers the tests of answers for activities; `workers` is called only while tests run. */
export function describeForgedResults(workers: () => SealedWorkers, noted: Noted): void {
  test("takes no result of theirs for its activity's", async () => {
    const place = { kind: "activity-result", name: "echo" } as const;
    const forged: Array<(own: string, activityId: string) => Payload[] | Promise<Payload[]>> = [
      () => [plain("forged")],
      (_own, activityId) => workers().seal(newWorkflow(), place, ["forged"], activityId),
      (own) => workers().seal(own, place, ["forged"], "another"),
      (own, activityId) =>
        workers().seal(own, { kind: "activity-input", name: "echo" }, ["forged"], activityId),
    ];
    for (const make of forged) {
      const { workflowId, activityId, letGo } = await startWaiting(workers(), noted);
      const result = { payloads: await make(workflowId, activityId) };
      await workers().bare.workflowService.respondActivityTaskCompletedById({
        namespace: "default",
        workflowId,
        activityId,
        result,
      });
      expect(await workers().endOf(workflowId)).toEqual(["forged"]);
      letGo();
    }
  });

  test("can be made to fail by them, but reads no text of theirs", async () => {
    const { workflowId, activityId, letGo } = await startWaiting(workers(), noted);
    const failure = {
      message: "forged text",
      applicationFailureInfo: {
        type: "ForgedType",
        nonRetryable: true,
        details: { payloads: [plain("forged text")] },
      },
    };
    await workers().bare.workflowService.respondActivityTaskFailedById({
      namespace: "default",
      workflowId,
      activityId,
      failure,
    });
    expect(await workers().endOf(workflowId)).toEqual(["", "forged"]);
    const error = await workers()
      .client.workflow.getHandle(workflowId)
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
    const started = await workers()
      .bare.workflowService.startActivityExecution({ ...request, activityType: { name: "listSpacesToTend" } })
      .catch((error: Error) => error);
    const isRefusedByUs = () =>
      workers().refused.some(({ workflow_id, type }) => workflow_id === "" && type === "listSpacesToTend");
    // A server without standalone activities refuses them itself.
    const isRefusedByServer =
      started instanceof Error && /unimplemented|not enabled|disabled|unknown/i.test(started.message);
    await until("it was refused", () => isRefusedByServer || isRefusedByUs());
    expect(noted.served.has("")).toBe(false);
  });
}
