/** The only place that counts the workflows of an organization whose histories Temporal still has. */
import type { Client } from "@temporalio/client";
import { withDeadline } from "../connection.ts";

/** Running, or closed and not yet over the namespace's retention; a run that continued as new counts by its own start. */
export async function countWorkflowsBefore(
  client: Client,
  organizationId: string,
  startedBefore: Date,
): Promise<number> {
  const query = `OrganizationId = '${organizationId}' and StartTime < '${startedBefore.toISOString()}'`;
  return (await withDeadline(client, () => client.workflow.count(query))).count;
}
