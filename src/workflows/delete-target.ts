/** The workflow of a deletion: purges in steps until nothing is left of the document, folder or space. */
import {
  continueAsNew,
  defineQuery,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import type { DeletionInput } from "../domain/work/deletion.ts";
import { purge } from "./proxies.ts";

const purgedCount = defineQuery<number>("purgedCount");

/**
 * Repeats the idempotent step of a deletion until it reports that nothing is left.
 * @param purgedBefore documents that earlier executions removed, before it continued as new.
 * @returns how many documents were removed.
 */
export async function deleteTarget(input: DeletionInput, purgedBefore = 0): Promise<number> {
  let purged = purgedBefore;
  setHandler(purgedCount, () => purged);
  for (;;) {
    const outcome = await purge.purgeStep(input);
    purged += outcome.purged;
    setCurrentDetails(
      outcome.done
        ? `${purged} documents removed; a last read found nothing left`
        : `${purged} documents removed so far`,
    );
    if (outcome.done) break;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof deleteTarget>(input, purged);
  }
  upsertSearchAttributes({ Outcome: ["completed"], Stage: ["done"] });
  return purged;
}
