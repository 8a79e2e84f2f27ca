/** Queues a run of a document: what reprocessing it and restoring a version have in common. */
import type { Sql } from "../../db/pool.ts";
import { inTenantContended } from "../../db/retry-deadlocks.ts";
import { newId } from "../../domain/ids.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { lockDocumentFor } from "./document.ts";

/** Has the names of the API, because the answer is kept for repeats. */
export interface QueuedRun {
  readonly document_id: string;
  readonly pipeline_run_id: string;
  readonly status: "queued";
}

interface RunRequest {
  readonly documentId: string;
  /** Writes the run, in the transaction that holds the document's lock. */
  readonly queue: (sql: Sql, runId: string) => Promise<unknown>;
}

/** @throws DomainError `not_found`, `permission_denied`, and what `queue` throws */
export async function queueDocumentRun(
  deps: Pick<CommandDeps, "db" | "dispatcher">,
  caller: Caller,
  { documentId, queue }: RunRequest,
): Promise<QueuedRun> {
  const { organization } = caller.principal;
  const runId = newId();
  const queued: QueuedRun = { document_id: documentId, pipeline_run_id: runId, status: "queued" };
  await inTenantContended(deps.db, organization, async (sql) => {
    const document = await lockDocumentFor(sql, caller.principal, "documents:reprocess", documentId);
    await queue(sql, runId);
    await recordChange(sql, caller, "documents:reprocess", {
      type: "document",
      id: documentId,
      spaceId: document.space_id,
      events: [],
    });
    await caller.keepAnswer?.(sql, queued);
  });
  deps.dispatcher.wake({ id: organization.id, num: organization.num });
  return queued;
}
