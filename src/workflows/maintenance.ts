/** The scheduled workflow that removes what outlived its retention, organization by organization. */
import { continueAsNew, isCancellation, workflowInfo } from "@temporalio/workflow";
import {
  type MaintenanceCounts,
  type MaintenanceInput,
  addCounts,
} from "../domain/work/maintenance-rounds.ts";
import { maintain } from "./proxies.ts";

/**
 * An organization that fails delays no other; the next round takes it again.
 * @param after the number of the last organization that an earlier execution finished, before it continued as
 * new.
 * @returns how much was done, by kind of work.
 */
export async function maintenance(
  input: MaintenanceInput,
  after = 0,
  countsBefore: MaintenanceCounts = {},
): Promise<MaintenanceCounts> {
  let counts = countsBefore;
  const note = async (work: Promise<MaintenanceCounts>): Promise<void> => {
    try {
      counts = addCounts(counts, await work);
    } catch (error) {
      if (isCancellation(error)) throw error;
      counts = addCounts(counts, { failed_steps: 1 });
    }
  };
  if (after === 0) await note(maintain.maintainInstance());
  for (let last = after; ;) {
    const organizations = await maintain.listOrganizations(last);
    for (const organization of organizations)
      await note(maintain.maintainOrganization({ organization, isThorough: input.isThorough }));
    last = organizations.at(-1)?.num ?? last;
    if (organizations.length === 0) return counts;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof maintenance>(input, last, counts);
  }
}
