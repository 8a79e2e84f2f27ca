/** Cancels a run of the pipeline that has not ended. What was published before stays. */
import { authorize } from "../../auth/policy.ts";
import { inTenantContended } from "../../db/retry-deadlocks.ts";
import { type RunRow, findRun } from "../../db/runs/read.ts";
import { cancelRun as writeCancellation } from "../../db/runs/requests.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";

/** @throws DomainError `not_found`, `permission_denied`; `bad_request` if the run has ended */
export async function cancelRun(deps: Pick<CommandDeps, "db">, caller: Caller, id: string): Promise<RunRow> {
  const { principal } = caller;
  const cancelled = await inTenantContended(deps.db, principal.organization, async (sql) => {
    const run = await findRun(sql, principal, id);
    authorize(principal, "documents:reprocess", run, "run");
    if (!(await writeCancellation(sql, id)))
      throw new DomainError("already_ended", "The run has already ended, so it cannot be cancelled.");
    await recordChange(sql, caller, "documents:reprocess", {
      type: "pipeline_run",
      id,
      spaceId: run.space_id,
      events: [],
    });
    return findRun(sql, principal, id);
  });
  authorize(principal, "documents:reprocess", cancelled, "run");
  return cancelled;
}
