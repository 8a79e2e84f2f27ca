/** Ends the workflows of an organization that is being deleted. */
import type { Client } from "@temporalio/client";
import { withDeadline } from "./connection.ts";

const REASON = "the organization is deleted";

/**
 * Terminates all running workflows of the organization. Temporal's lists lag, so call it until it finds none.
 * @returns how many it found.
 */
export async function endWorkflowsOf(client: Client, organizationId: string): Promise<number> {
  let ended = 0;
  const running = await withDeadline(client, async () => {
    const found: Array<{ workflowId: string; runId: string }> = [];
    for await (const { workflowId, runId } of client.workflow.list({
      query: `OrganizationId = '${organizationId}' and ExecutionStatus = 'Running'`,
    }))
      found.push({ workflowId, runId });
    return found;
  });
  for (const { workflowId, runId } of running) {
    // It may have closed meanwhile, which is fine.
    await withDeadline(client, () => client.workflow.getHandle(workflowId, runId).terminate(REASON)).catch(
      () => undefined,
    );
    ended += 1;
  }
  return ended;
}
