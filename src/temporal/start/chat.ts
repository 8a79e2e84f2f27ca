/** Starts, cancels and terminates the workflows of chat turns. */
import { Client, WorkflowNotFoundError } from "@temporalio/client";
import { TypedSearchAttributes, WorkflowIdReusePolicy } from "@temporalio/common";
import type { DataConverter, NativeConnection } from "@temporalio/worker";
import {
  chatTurnWorkflowId,
  chatTurnsWorkflowId,
  chatTurnsWorkflowPrefix,
  turnOfWorkflow,
} from "../../domain/work/workflow-ids.ts";
import type { ChatTurnInput, ChatTurnsInput } from "../../domain/work/chat-workflows.ts";
import { withDeadline } from "../connection.ts";
import { clientHooks } from "../hooks.ts";
import { ATTRIBUTES } from "../search-attributes.ts";

/** Ends the workflows of turns whose API process died; a turn itself never takes this long. */
const TURN_EXECUTION_TIMEOUT = "30 minutes";

const PING_TIMEOUT_MS = 1_000;

/** A client on the workers' connection, for an eager start: the answer brings the first workflow task. */
export function eagerClient(
  connection: NativeConnection,
  namespace: string,
  dataConverter: DataConverter,
): Client {
  return new Client({ connection, namespace, dataConverter, interceptors: clientHooks });
}

/** One cheap call that shows that Temporal answers. @throws what the client throws, after at most a second */
export async function pingTemporal(client: Client): Promise<void> {
  await client.connection.withDeadline(Date.now() + PING_TIMEOUT_MS, () =>
    client.connection.workflowService.getSystemInfo({}),
  );
}

export interface ChatStarter {
  /** Starts the bookkeeping workflow of a group of turns. @returns its id. */
  startTurns(apiProcessId: string, groupId: string, input: ChatTurnsInput): Promise<string>;
  /** Starts the workflow of a turn that runs tools. @returns its id. */
  startTurn(turn: { agentId: string; spaceId: string }, input: ChatTurnInput): Promise<string>;
  /** Asks a workflow to end as cancelled. Does nothing if it has ended already. */
  cancel(workflowId: string): Promise<void>;
}

/**
 * @param client called each time, because the process may have connected again.
 * @throws what the client throws
 * @see test/workflows/chat/chat-turns.stack.test.ts
 */
export function createChatStarter(client: () => Client, queue: string): ChatStarter {
  const shared = {
    taskQueue: queue,
    requestEagerStart: true,
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    workflowExecutionTimeout: TURN_EXECUTION_TIMEOUT,
  } as const;
  return {
    async startTurns(apiProcessId, groupId, input) {
      const workflowId = chatTurnsWorkflowId(apiProcessId, groupId);
      await withDeadline(client(), () =>
        client().workflow.start("chatTurns", {
          ...shared,
          workflowId,
          args: [input],
          staticSummary: `the books of ${input.turnIds.length} chat turns`,
        }),
      );
      return workflowId;
    },
    async startTurn(turn, input) {
      const organization = input.caller.organization.id;
      const workflowId = chatTurnWorkflowId(organization, input.turnId);
      const typedSearchAttributes = new TypedSearchAttributes([
        { key: ATTRIBUTES.OrganizationId, value: organization },
        { key: ATTRIBUTES.SpaceId, value: [turn.spaceId] },
        { key: ATTRIBUTES.AgentId, value: turn.agentId },
        { key: ATTRIBUTES.Trigger, value: "chat" },
      ]);
      await withDeadline(client(), () =>
        client().workflow.start("chatTurn", {
          ...shared,
          workflowId,
          args: [input],
          typedSearchAttributes,
          staticSummary: "a chat turn that runs tools",
        }),
      );
      return workflowId;
    },
    async cancel(workflowId) {
      await withDeadline(client(), () => client().workflow.getHandle(workflowId).cancel()).catch(
        ignoreNotFound,
      );
    },
  };
}

/** The turns of all API processes whose own workflow runs. Temporal's lists lag by a second or two. */
export async function listRunningTurns(client: Client): Promise<string[]> {
  return withDeadline(client, async () => {
    const turnIds: string[] = [];
    for await (const { workflowId } of client.workflow.list({
      query: "ExecutionStatus = 'Running' AND WorkflowType = 'chatTurn'",
    }))
      turnIds.push(turnOfWorkflow(workflowId));
    return turnIds;
  });
}

/** Terminates every workflow of an API process that is gone: bookkeeping, and turns with tools. */
export async function terminateTurns(
  client: Client,
  apiProcessId: string,
  turns: readonly { id: string; organization_id: string }[],
): Promise<void> {
  const groups = client.workflow.list({
    query:
      "ExecutionStatus = 'Running' " +
      `AND WorkflowId STARTS_WITH '${chatTurnsWorkflowPrefix(apiProcessId)}'`,
  });
  const workflowIds = turns.map((turn) => chatTurnWorkflowId(turn.organization_id, turn.id));
  for await (const group of groups) workflowIds.push(group.workflowId);
  for (const workflowId of workflowIds) {
    await withDeadline(client, () =>
      client.workflow.getHandle(workflowId).terminate("Its API process is gone."),
    ).catch(ignoreNotFound);
  }
}

function ignoreNotFound(error: unknown): void {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}
