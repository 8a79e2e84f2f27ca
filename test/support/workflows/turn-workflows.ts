/** Finds the workflows of chat turns in Temporal. */
import type { ChatHarness } from "../stack/chat-harness.ts";

/** Returns the id of the workflow of the turn that answered with this completion id. */
export const turnWorkflowId = (chat: ChatHarness, completionId: string): string =>
  `chat-turn/${chat.organization.id}/${completionId.replace("chatcmpl-", "")}`;

/** Returns the status of a workflow, e.g. `COMPLETED`. @throws WorkflowNotFoundError if there is none. */
export async function workflowStatus(chat: ChatHarness, workflowId: string): Promise<string> {
  return (await chat.client.workflow.getHandle(workflowId).describe()).status.name;
}
