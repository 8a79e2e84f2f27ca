/** The workflow that a schedule starts every minute: tends the search indexes of spaces that need it. */
import { isCancellation } from "@temporalio/workflow";
import { type MaintenanceCounts, addCounts } from "../domain/work/maintenance.ts";
import { tend } from "./proxies.ts";

/** A space that fails holds up no other: it is due in the next round again. @returns what was done, by kind. */
export async function indexUpkeep(): Promise<MaintenanceCounts> {
  let counts: MaintenanceCounts = {};
  for (const space of await tend.listSpacesToTend()) {
    try {
      counts = addCounts(counts, await tend.tendSpace(space));
    } catch (error) {
      if (isCancellation(error)) throw error;
      counts = addCounts(counts, { failed_steps: 1 });
    }
  }
  return counts;
}
