/** Cancels a batch of files: those that are still processed end. */
import { findBatch, markBatchCancelled } from "../../db/stores/files.ts";
import { endActiveRuns } from "../../db/runs/requests.ts";
import { inTenantContended } from "../../db/retry-deadlocks.ts";
import { notFound } from "../../domain/not-found.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { presentBatch } from "./presented.ts";
import { requireStore } from "./store.ts";

/**
 * What has completed stays in the store. Idempotent; a batch that has ended is left as it is.
 * @returns the batch as it is answered.
 * @throws DomainError `not_found`, `permission_denied`
 */
export async function cancelFileBatch(
  deps: Pick<CommandDeps, "db">,
  caller: Caller,
  { storeId, batchId }: { readonly storeId: string; readonly batchId: string },
) {
  const { principal } = caller;
  return inTenantContended(deps.db, principal.organization, async (sql) => {
    const store = await requireStore(sql, principal, "documents:reprocess", storeId);
    const batch = await findBatch(sql, storeId, batchId);
    if (batch === undefined) throw notFound("batch");
    if (batch.in_progress > 0 && (await markBatchCancelled(sql, batchId))) {
      await endActiveRuns(sql, batch.document_ids, "cancelled", "The batch was cancelled.");
      await recordChange(sql, caller, "documents:reprocess", {
        type: "vector_store_batch",
        id: batchId,
        spaceId: store.space_id,
        events: [],
      });
    }
    const answer = presentBatch((await findBatch(sql, storeId, batchId)) ?? batch);
    await caller.keepAnswer?.(sql, answer);
    return answer;
  });
}
