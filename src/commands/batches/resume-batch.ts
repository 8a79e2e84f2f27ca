/** Resumes a paused batch: its workflow releases runs again. */
import type { BatchRow } from "../../db/runs/batches.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { changeBatchStatus } from "./change-batch-status.ts";

/** Idempotent. @throws DomainError `not_found`, `permission_denied`; `bad_request` if ended or cancelled */
export async function resumeBatch(
  deps: Pick<CommandDeps, "db">,
  caller: Caller,
  id: string,
): Promise<BatchRow> {
  return changeBatchStatus(deps, caller, { id, from: ["running", "paused"], to: "running" });
}
