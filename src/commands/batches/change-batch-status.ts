/** Changes the status of a batch: what pausing, resuming and cancelling it have in common. */
import { type BatchRow, steerBatch } from "../../db/runs/batches.ts";
import type { Sql } from "../../db/pool.ts";
import { inTenantContended } from "../../db/retry-deadlocks.ts";
import { DomainError } from "../../domain/errors.ts";
import type { BatchStatus } from "../../domain/work/batch.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { readBatch } from "./batch.ts";

interface StatusChange {
  readonly id: string;
  readonly from: readonly BatchStatus[];
  readonly to: "paused" | "running" | "cancelled";
  /** Further changes in the same transaction. */
  readonly andThen?: (sql: Sql) => Promise<unknown>;
}

const PARTICIPLE = { paused: "paused", running: "resumed", cancelled: "cancelled" } as const;

/**
 * Does nothing if the change was made before.
 * @throws DomainError `not_found`, `permission_denied`; `bad_request` if the batch is in none of the states
 * `from`
 */
export async function changeBatchStatus(
  deps: Pick<CommandDeps, "db">,
  caller: Caller,
  { id, from, to, andThen }: StatusChange,
): Promise<BatchRow> {
  const { principal } = caller;
  return inTenantContended(deps.db, principal.organization, async (sql) => {
    await readBatch(sql, principal, "documents:reprocess", id);
    if (!(await steerBatch(sql, id, from, to)))
      throw new DomainError(
        "already_ended",
        `The batch has ended or was cancelled, so it cannot be ${PARTICIPLE[to]}.`,
      );
    await andThen?.(sql);
    await recordChange(sql, caller, "documents:reprocess", { type: "batch", id, events: [] });
    return readBatch(sql, principal, "documents:read", id);
  });
}
