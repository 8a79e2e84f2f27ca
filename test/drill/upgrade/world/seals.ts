/**
 * Checks the two steps towards payloads that are bound to their place: while the version before runs, the old
 * form is written; after it has ended, payloads are bound.
 */
import { randomUUID } from "node:crypto";
import type { Client } from "@temporalio/client";
import proto from "@temporalio/proto";
import { ACME } from "../../../support/tenants/tenants.ts";
import { until } from "../../../support/until.ts";
import { completed, uploadMany } from "./documents.ts";
import type { Finding } from "../report.ts";
import { RESEARCH, type Upgrade } from "./under-way.ts";

const OLD = "binary/holdfast-aes256gcm";
const BOUND = "binary/holdfast-aes256gcm-bound";
/** The number of workflows that are looked at, newest first. */
const LOOKED_AT = 20;

/** Whether payloads are already bound to their place: by the version before, or since a cut-over. */
export async function areBound({ world }: Upgrade): Promise<boolean> {
  const { rowCount } = await world.database.db.owner.query("select from cut_overs");
  return rowCount !== 0;
}

/** Checks that both versions go on binding payloads if the version before does. */
export async function boundFormIsWritten({ world }: Upgrade): Promise<Finding> {
  const counts = await countForms(world.temporal);
  return {
    seen: `${counts.get(BOUND)} payloads are bound to their place`,
    faults: [
      ...(counts.has(BOUND) ? [] : ["no bound payload was seen"]),
      ...(counts.has(OLD) ? [`${counts.get(OLD)} payloads are in the old form`] : []),
    ],
  };
}

/**
 * Checks, while the version before runs, that nothing is written that it could not read, and that the
 * cut-over is refused.
 */
export async function oldFormIsWritten({ world, before, after }: Upgrade): Promise<Finding> {
  const counts = await countForms(world.temporal);
  const refusal = await after.cli("seals", "cut-over").catch((error: Error) => error.message);
  const names =
    refusal.includes(`${before.worker.child.pid}@`) && refusal.includes(`${before.api.child.pid}@`);
  return {
    seen:
      `${counts.get(OLD)} payloads in the old form; the cut-over names the worker and the API that are ` +
      "in its way",
    faults: [
      ...(counts.has(OLD) ? [] : ["no payload in the old form was seen"]),
      ...(counts.has(BOUND) ? [`${counts.get(BOUND)} payloads are bound already`] : []),
      ...(names ? [] : [`the cut-over is not refused: ${refusal}`]),
    ],
  };
}

/** Cuts over after the version before has ended, and checks that payloads are bound from then on. */
export async function cutOver({
  world,
  after,
  ledger,
}: Upgrade): Promise<{ readonly seen: string; readonly result: undefined }> {
  // Temporal remembers pollers that have just ended for longer than a drill waits, so they are not checked.
  await after.cli("seals", "cut-over", "--unchecked");
  await until("a new document's payloads are bound", async () => {
    const since = new Date();
    await completed(after.url, await uploadMany(ledger, after.url, RESEARCH, 1));
    const counts = await countForms(world.temporal, since);
    return counts.has(BOUND) && !counts.has(OLD);
  });
  return { seen: "a document that was taken in after it", result: undefined };
}

/**
 * Starts a workflow with a payload that the version before has sealed for another workflow of the
 * organization, as anybody who may call Temporal can, and checks that it is refused.
 */
export async function oldFormIsRefused({ world, after }: Upgrade): Promise<Finding> {
  // Moves the cut-over some minutes into the past; a running worker already knows its time.
  await world.database.db.owner.query("update cut_overs set at = at - interval '5 minutes'");
  await Promise.all([after.worker.kill("SIGTERM"), after.startWorker()]);
  const workflowId = `document-pipeline/${ACME}/${randomUUID()}`;
  const input = { payloads: await oldPayloads(world.temporal) };
  const request = {
    namespace: "default",
    workflowId,
    requestId: randomUUID(),
    workflowType: { name: "documentPipeline" },
    taskQueue: { name: "pipeline" },
    input,
  };
  await world.temporal.workflowService.startWorkflowExecution(request);
  const handle = world.temporal.workflow.getHandle(workflowId);
  await until("the workflow has ended", async () => (await handle.describe()).status.name !== "RUNNING");
  const events = (await handle.fetchHistory()).events!;
  const type = events.at(-1)!.workflowExecutionFailedEventAttributes?.failure?.applicationFailureInfo?.type;
  const ran = events.some(({ activityTaskScheduledEventAttributes: scheduled }) => scheduled);
  return {
    seen: "the input of a document's workflow, copied to a new one",
    faults: type === "forged" && !ran ? [] : [`a workflow with a copied input ended as ${type}`],
  };
}

/** Returns the input of a document's workflow, as the version before has sealed it. */
async function oldPayloads(temporal: Client) {
  for await (const { workflowId } of temporal.workflow.list({
    query: `WorkflowType = 'documentPipeline' AND OrganizationId = '${ACME}'`,
  })) {
    const [started] = (await temporal.workflow.getHandle(workflowId).fetchHistory()).events!;
    const payloads = started!.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    if (payloads.some(({ metadata }) => Buffer.from(metadata?.["encoding"] ?? []).toString() === OLD))
      return payloads;
  }
  throw new Error("no workflow has an input in the old form");
}

/** Counts payloads by their form, in the newest workflows that have started since then. */
async function countForms(temporal: Client, since = new Date(0)): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  let looked = 0;
  for await (const { workflowId, runId } of temporal.workflow.list({
    query: `StartTime >= '${since.toISOString()}'`,
  })) {
    if ((looked += 1) > LOOKED_AT) break;
    const history = proto.temporal.api.history.v1.History.fromObject(
      (await temporal.workflow.getHandle(workflowId, runId).fetchHistory()) as object,
    );
    for (const [, found] of JSON.stringify(history).matchAll(/"encoding":"([^"]+)"/g)) {
      const form = Buffer.from(found!, "base64").toString();
      counts.set(form, (counts.get(form) ?? 0) + 1);
    }
  }
  return counts;
}
