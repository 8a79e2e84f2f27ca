/** The workflow that runs every minute: merges, purges and rewrites segments of the search indexes. */
import { isCancellation } from "@temporalio/workflow";
import { type MaintenanceCounts, addCounts } from "../domain/work/maintenance-rounds.ts";
import { upkeep } from "./proxies.ts";

/** A space that fails delays no other; the next round retries. @returns how much was done, by kind. */
export async function indexUpkeep(): Promise<MaintenanceCounts> {
  let counts: MaintenanceCounts = {};
  for (const space of await upkeep.listSpacesToTend()) {
    try {
      counts = addCounts(counts, await upkeep.tendSpace(space));
    } catch (error) {
      if (isCancellation(error)) throw error;
      counts = addCounts(counts, { failed_steps: 1 });
    }
  }
  return counts;
}
