/** The only place that starts, cancels and ends the workflows of chat turns. */
import { Client, WorkflowNotFoundError } from "@temporalio/client";
import { TypedSearchAttributes, WorkflowIdReusePolicy } from "@temporalio/common";
import type { DataConverter, NativeConnection } from "@temporalio/worker";
import {
  chatTurnWorkflowId,
  chatTurnsWorkflowId,
  chatTurnsWorkflowPrefix,
  turnOfWorkflow,
} from "../../domain/work/workflow-ids.ts";
import type { ChatTurnInput } from "../../workflows/chat-turn.ts";
import type { ChatTurnsInput } from "../../workflows/chat-turns.ts";
import { withDeadline } from "../connection.ts";
import { clientHooks } from "../hooks.ts";
import { ATTRIBUTES } from "../search-attributes.ts";

/** Ends what a dead process left: nothing of a turn runs longer than this without it. */
const TURN_EXECUTION_TIMEOUT = "30 minutes";

const PING_TIMEOUT_MS = 1_000;

/** A client on the connection of the workers that poll the queue, which Temporal needs to hand the first workflow task back at once. */
export function eagerClient(
  connection: NativeConnection,
  namespace: string,
  dataConverter: DataConverter,
): Client {
  return new Client({ connection, namespace, dataConverter, interceptors: clientHooks });
}

/** One cheap call that shows that Temporal answers. @throws what the client throws, after a second at most. */
export async function pingTemporal(client: Client): Promise<void> {
  await client.connection.withDeadline(Date.now() + PING_TIMEOUT_MS, () =>
    client.connection.workflowService.getSystemInfo({}),
  );
}

export interface ChatStarter {
  /** Starts the books of a group of turns. @returns the workflow's id. */
  startTurns(apiProcessId: string, groupId: string, input: ChatTurnsInput): Promise<string>;
  /** Starts a turn that runs tools. @returns the workflow's id. */
  startTurn(turn: { agentId: string; spaceId: string }, input: ChatTurnInput): Promise<string>;
  /** Asks a workflow to end as cancelled; one that has ended already stays as it is. */
  cancel(workflowId: string): Promise<void>;
}

/** `client` is asked for at each call, because a process may connect again. @throws what the client throws. */
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

/** Turns whose own workflow runs, of all API processes; Temporal lists one with a delay of a second or two. */
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

/** Ends every workflow of an API process that is gone: its groups, and those of its turns that ran tools. */
export async function terminateTurns(
  client: Client,
  apiProcessId: string,
  turns: readonly { id: string; organization_id: string }[],
): Promise<void> {
  const groups = client.workflow.list({
    query: `ExecutionStatus = 'Running' AND WorkflowId STARTS_WITH '${chatTurnsWorkflowPrefix(apiProcessId)}'`,
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
