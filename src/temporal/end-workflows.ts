/** The only place that ends the workflows of an organization that is deleted. */
import type { Client } from "@temporalio/client";
import { withDeadline } from "./connection.ts";

const REASON = "the organization is deleted";

/**
 * Terminates what runs for the organization. Temporal lists with a delay: call until it finds none.
 * @returns how many ran.
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
    // One that has closed meanwhile is what was wanted.
    await withDeadline(client, () => client.workflow.getHandle(workflowId, runId).terminate(REASON)).catch(
      () => undefined,
    );
    ended += 1;
  }
  return ended;
}
