/** Cancels every run of a batch that has not ended. What was published before stays. */
import type { BatchRow } from "../../db/runs/batches.ts";
import { cancelRunsOfBatch } from "../../db/runs/requests.ts";
import { CANCELS_A_STEP } from "../../domain/work/batch.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { changeBatchStatus } from "./change-batch-status.ts";

/**
 * Idempotent. The first runs are cancelled here, so that a small batch shows it at once; the workflow cancels
 * the rest.
 * @throws DomainError `not_found`, `permission_denied`; `bad_request` if the batch has ended
 */
export async function cancelBatch(
  deps: Pick<CommandDeps, "db">,
  caller: Caller,
  id: string,
): Promise<BatchRow> {
  return changeBatchStatus(deps, caller, {
    id,
    from: ["running", "paused", "cancelled"],
    to: "cancelled",
    andThen: (sql) => cancelRunsOfBatch(sql, id, CANCELS_A_STEP),
  });
}
