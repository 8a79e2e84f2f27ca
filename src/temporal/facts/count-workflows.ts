/** Counts the workflows of an organization whose histories Temporal still keeps. */
import type { Client } from "@temporalio/client";
import { withDeadline } from "../connection.ts";

/**
 * Counts running ones, and closed ones within the namespace's retention. Each run of a workflow that
 * continued as new counts by its own start.
 */
export async function countWorkflowsBefore(
  client: Client,
  organizationId: string,
  startedBefore: Date,
): Promise<number> {
  const query = `OrganizationId = '${organizationId}' and StartTime < '${startedBefore.toISOString()}'`;
  return (await withDeadline(client, () => client.workflow.count(query))).count;
}
