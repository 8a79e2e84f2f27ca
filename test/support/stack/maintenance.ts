/** A stack of a test file's own on which tests make maintenance due and run it. */
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import proto from "@temporalio/proto";
import { afterAll, beforeAll, expect } from "vitest";
import { createDirectoryStore } from "../../../src/storage/stores/directory.ts";
import { call } from "../clients/client.ts";
import { documentClient } from "../clients/document-client.ts";
import { until } from "../until.ts";
import { onOwnStack } from "./own-stack.ts";

export type MaintenanceSchedule = "maintenance" | "maintenance-thorough";

const { WORKFLOW_EXECUTION_STATUS_COMPLETED: COMPLETED } =
  proto.temporal.api.enums.v1.WorkflowExecutionStatus;

/** Asks the server directly, because the schedule's arguments are encrypted and this client has no key. */
export const describeSchedule = ({ workflowService }: Client, scheduleId: string) =>
  workflowService.describeSchedule({ namespace: "default", scheduleId });

/** Triggers the schedule, and waits until the workflow that it starts has completed. */
export async function runSchedule(client: Client, schedule: MaintenanceSchedule): Promise<void> {
  const before = Number((await describeSchedule(client, schedule)).info!.actionCount);
  await client.schedule.getHandle(schedule).trigger();
  const execution = await until("the schedule has started its workflow", async () => {
    const { info } = await describeSchedule(client, schedule);
    return Number(info!.actionCount) > before && info!.recentActions!.at(-1)!.startWorkflowResult!;
  });
  await until("the workflow has completed", async () => {
    const { workflowExecutionInfo } = await client.workflowService.describeWorkflowExecution({
      namespace: "default",
      execution,
    });
    return workflowExecutionInfo!.status === COMPLETED;
  });
}

/** Call it once, at the top of a file; the stack and Temporal's client exist from the first test on. */
export function onMaintainedStack() {
  const { stack, tenants } = onOwnStack();
  const documents = documentClient({ stack, tenants });
  const { rows, end } = documents;
  let client: Client;
  beforeAll(async () => {
    client = new Client({ connection: await Connection.connect({ address: stack.temporalAddress }) });
  });
  afterAll(() => client.connection.close());

  const post = (path: string, body?: unknown) => call(stack.url, tenants.keys.editor, "POST", path, body);
  return {
    ...documents,
    stack,
    tenants,
    post,
    temporal: () => client,
    maintain: (schedule: MaintenanceSchedule = "maintenance") => runSchedule(client, schedule),
    store: () => createDirectoryStore(join(stack.dataDir, "objects")),
    /** Returns how many rows a query finds. */
    count: async (query: string, values: unknown[] = []): Promise<number> =>
      (await rows(query, values)).length,
    /** Returns the runs of a document, by version. */
    runsOf: (documentId: string) =>
      rows(
        `select num, version, status, text_purged, object_purged, object_key
         from pipeline_runs
         where document_id = $1
         order by version`,
        [documentId],
      ),
    /** Makes runs old enough: maintenance skips what ended within the last two minutes. */
    age: () =>
      rows(
        `update pipeline_runs
         set completed_at = completed_at - interval '1 hour'
         where completed_at > now() - interval '10 minutes'`,
      ),
    /** Processes a document again, by another chunker if one is given, and waits until that is completed. */
    async reprocess(documentId: string, chunkerName?: string): Promise<void> {
      const body = chunkerName === undefined ? undefined : { chunker_name: chunkerName };
      expect((await post(`/data/${documentId}/reprocess`, body)).status).toBe(202);
      expect((await end(documentId)).processing_state.pipeline_status).toBe("completed");
    },
  };
}
