/** Starts a batch: queues all of its runs, which wait for the batch's workflow to release them. */
import { decide } from "../../auth/policy.ts";
import { type DocumentChoice, type DocumentPlace, findDocumentPlaces } from "../../db/documents/search.ts";
import type { Sql } from "../../db/pool.ts";
import { inTenantContended } from "../../db/retry-deadlocks.ts";
import { insertBatch } from "../../db/runs/batches.ts";
import { queueRuns } from "../../db/runs/requests.ts";
import { newId } from "../../domain/ids.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { MAX_BATCH_DOCUMENTS } from "../../domain/work/batch.ts";
import { PRIORITY } from "../../domain/work/processing.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { chooseDocuments } from "../documents/choose-documents.ts";
import { type Chunking, requireEmbeddable } from "../documents/chunking.ts";
import { recordChange } from "../record-change.ts";
import {
  type AskedDocument,
  type DocumentResult,
  idsOf,
  readAskedDocuments,
  resultOf,
} from "./asked-documents.ts";

interface BatchRequest extends Chunking, DocumentChoice {
  /** As the caller sent them; an invalid element does not stop the others. Null: filters and folders do. */
  readonly documentIds: readonly unknown[] | null;
}

/** Has the names of the API, because the answer is kept for repeats. */
interface StartedBatch {
  readonly batch_id: string;
  readonly total: number;
  readonly accepted: number;
  readonly rejected: number;
  /** In the order of the ids that were asked for; empty for filters. */
  readonly results: DocumentResult[];
}

/**
 * @throws ValidationProblems if the filters match more than {@link MAX_BATCH_DOCUMENTS} documents, or if
 * chunks would be larger than the model takes. A document that the caller may not process is no error: it is
 * answered in the results.
 */
export async function startBatch(
  deps: Pick<CommandDeps, "db" | "dispatcher" | "embedding">,
  caller: Caller,
  request: BatchRequest,
): Promise<StartedBatch> {
  requireEmbeddable(request.chunkerConfig, deps.embedding.maxTokens);
  const { organization } = caller.principal;
  const batchId = newId();
  const started = await inTenantContended(deps.db, organization, async (sql) => {
    const batch = await queueBatch(sql, caller.principal, request, batchId);
    await recordChange(sql, caller, "documents:reprocess", { type: "batch", id: batchId, events: [] });
    await caller.keepAnswer?.(sql, batch);
    return batch;
  });
  deps.dispatcher.wakeBatches(organization.id);
  return started;
}

async function queueBatch(
  sql: Sql,
  principal: Principal,
  request: BatchRequest,
  batchId: string,
): Promise<StartedBatch> {
  const asked = request.documentIds === null ? null : readAskedDocuments(request.documentIds);
  const reached =
    asked === null
      ? await chooseDocuments(sql, principal, "documents:reprocess", {
          ...request,
          most: MAX_BATCH_DOCUMENTS,
        })
      : await findDocumentPlaces(sql, principal.reach, idsOf(asked));
  // A set, since a batch by filters may have 100,000 documents.
  const writable = new Set(
    reached.filter((place) => decide(principal, "documents:reprocess", place) === "allow"),
  );
  const runs = await queueWritable(sql, principal, request, {
    batchId,
    documentIds: inOrder(asked, writable),
  });
  const forbidden = new Set(reached.filter((place) => !writable.has(place)).map((place) => place.id));
  const results = (asked ?? []).map((element) => resultOf(element, { runs, forbidden }));
  const rejected = results.flatMap(({ document_id, error }) =>
    error === null ? [] : [{ document_id, error }],
  );
  const total = asked === null ? runs.size : asked.length;
  await insertBatch(sql, {
    id: batchId,
    organizationId: principal.organization.id,
    createdBy: principal.user.id,
    apiKeyId: principal.apiKeyId,
    spaceIds: [...new Set([...writable].map((place) => place.space_id))],
    total,
    accepted: runs.size,
    rejected,
  });
  return { batch_id: batchId, total, accepted: runs.size, rejected: rejected.length, results };
}

/** @returns ids of runs by ids of documents; a document that was deleted meanwhile has none. */
async function queueWritable(
  sql: Sql,
  principal: Principal,
  { chunkerName, chunkerConfig }: Chunking,
  { batchId, documentIds }: { readonly batchId: string; readonly documentIds: readonly string[] },
): Promise<Map<string, string>> {
  const runs = documentIds.map((documentId) => ({ documentId, runId: newId() }));
  const queued = await queueRuns(sql, runs, {
    trigger: "batch",
    priority: PRIORITY.batch,
    chunkerName,
    chunkerConfig,
    createdBy: principal.user.id,
    batchId,
    held: true,
  });
  return new Map(runs.filter((run) => queued.has(run.documentId)).map((run) => [run.documentId, run.runId]));
}

/** Ids of the writable documents, in the order asked for. */
function inOrder(
  asked: readonly AskedDocument[] | null,
  writable: ReadonlySet<DocumentPlace>,
): readonly string[] {
  const ids = [...writable].map((place) => place.id);
  if (asked === null) return ids;
  const known = new Set(ids);
  return idsOf(asked).filter((id) => known.has(id));
}
