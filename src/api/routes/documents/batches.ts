/** POST /data/batch-reprocess, and everything of /data/batches/{batch_id}. */
import { authorize } from "../../../auth/policy.ts";
import { appendAudit } from "../../../db/audit/append.ts";
import { type BatchRow, findBatch, listBatchResults, steerBatch } from "../../../db/runs/batches.ts";
import { inTenantContended } from "../../../db/retry-deadlocks.ts";
import { inTenant, type Sql } from "../../../db/pool.ts";
import { cancelRunsOfBatch } from "../../../db/runs/requests.ts";
import type { Deps } from "../../deps.ts";
import { type BatchStatus, CANCELS_A_STEP, describeBatch } from "../../../domain/work/batch.ts";
import { DomainError } from "../../../domain/errors.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import { pageOf } from "../../../schema/common.ts";
import { PartsQuery } from "../../../schema/documents/document.ts";
import {
  Batch,
  BatchAccepted,
  BatchParams,
  BatchReprocess,
  BatchRunResultPage,
} from "../../../schema/documents/run.ts";
import { acceptBatch } from "../../accept-batch.ts";
import { defineRoute } from "../../route.ts";
import { requireEmbeddable } from "./reprocess.ts";

const MISSING = "Batch not found";

const batchReprocess = defineRoute({
  method: "POST",
  path: "/data/batch-reprocess",
  access: "keys",
  capability: "write",
  audit: { action: "documents:reprocess", resource: "batch" },
  status: 202,
  summary: "Process many documents again: 1–1,000 by their ids, or up to 100,000 that filters let through.",
  description:
    "An id that cannot be reprocessed is answered in `results` and stops no other. Filters narrow to the documents that the caller may write.",
  tags: ["Documents"],
  body: BatchReprocess,
  response: BatchAccepted,
  async idempotent({ deps, principal, answer }) {
    if (answer === null) return;
    const { batch_id: id } = BatchParams.parse({ batch_id: answer["batch_id"] });
    await inTenant(deps.db, principal.organization, (sql) =>
      loadBatch(sql, principal, id, "documents:reprocess"),
    );
  },
  async handle({ deps, principal, body, request }) {
    requireEmbeddable(body.chunker_config, deps.embedding.maxTokens);
    return acceptBatch(deps, principal, body, request);
  },
});

/** The batch, where the caller asked for it and still reaches all of its spaces that live. */
async function loadBatch(
  sql: Sql,
  principal: Principal,
  id: string,
  action: "documents:read" | "documents:reprocess",
): Promise<BatchRow> {
  const batch = await findBatch(sql, principal.user.id, id);
  if (batch === undefined) throw new DomainError("not_found", MISSING);
  for (const spaceId of batch.space_ids) authorize(principal, action, { space_id: spaceId }, MISSING);
  return batch;
}

const present = (batch: BatchRow) => ({ ...batch, ...describeBatch(batch, Date.now()) });

const getBatch = defineRoute({
  method: "GET",
  path: "/data/batches/:batch_id",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "batch" },
  status: 200,
  summary: "How a batch stands: runs by status, progress, rate and the time that is left.",
  tags: ["Documents"],
  params: BatchParams,
  response: Batch,
  async handle({ deps, principal, params }) {
    return present(
      await inTenant(deps.db, principal.organization, (sql) =>
        loadBatch(sql, principal, params.batch_id, "documents:read"),
      ),
    );
  },
});

const listResultsOfBatch = defineRoute({
  method: "GET",
  path: "/data/batches/:batch_id/results",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "batch" },
  status: 200,
  summary: "What became of each document of a batch; what was not accepted comes last.",
  tags: ["Documents"],
  params: BatchParams,
  query: PartsQuery,
  response: BatchRunResultPage,
  async handle({ deps, principal, params, query }) {
    const { items, total } = await inTenant(deps.db, principal.organization, async (sql) => {
      const batch = await loadBatch(sql, principal, params.batch_id, "documents:read");
      return listBatchResults(sql, batch.batch_id, query);
    });
    return pageOf(items, total, query);
  },
});

interface Steering {
  readonly from: readonly BatchStatus[];
  readonly to: BatchStatus;
}

/** Writes the fact that the batch's workflow acts upon. Saying it again changes nothing. */
async function steer(
  deps: Deps,
  principal: Principal,
  { batchId, requestId }: { batchId: string; requestId: string },
  { from, to }: Steering,
) {
  const { organization } = principal;
  const batch = await inTenantContended(deps.db, organization, async (sql) => {
    await loadBatch(sql, principal, batchId, "documents:reprocess");
    if (!(await steerBatch(sql, batchId, from, to)))
      throw new DomainError(
        "bad_request",
        `The batch has ended or was cancelled, so it cannot be ${VERBS[to]}.`,
      );
    // What is left of a larger batch is cancelled by its workflow; what is held never runs.
    if (to === "cancelled") await cancelRunsOfBatch(sql, batchId, CANCELS_A_STEP);
    await appendAudit(sql, principal, {
      action: "documents:reprocess",
      resource_type: "batch",
      resource_id: batchId,
      space_id: null,
      request_id: requestId,
      outcome: "success",
    });
    return loadBatch(sql, principal, batchId, "documents:read");
  });
  return present(batch);
}

const VERBS: Record<BatchStatus, string> = {
  paused: "paused",
  running: "resumed",
  cancelled: "cancelled",
  completed: "completed",
};

const steering = {
  method: "POST",
  access: "keys",
  capability: "write",
  audit: { action: "documents:reprocess", resource: "batch" },
  status: 202,
  tags: ["Documents"],
  params: BatchParams,
  response: Batch,
  errors: [400],
} as const;

const pauseBatch = defineRoute({
  ...steering,
  path: "/data/batches/:batch_id/pause",
  summary: "Release no more runs of a batch; those that are released go on.",
  handle: ({ deps, principal, params, request }) =>
    steer(
      deps,
      principal,
      { batchId: params.batch_id, requestId: request.id },
      { from: ["running", "paused"], to: "paused" },
    ),
});

const resumeBatch = defineRoute({
  ...steering,
  path: "/data/batches/:batch_id/resume",
  summary: "Release the runs of a paused batch again.",
  handle: ({ deps, principal, params, request }) =>
    steer(
      deps,
      principal,
      { batchId: params.batch_id, requestId: request.id },
      { from: ["running", "paused"], to: "running" },
    ),
});

const cancelBatch = defineRoute({
  ...steering,
  path: "/data/batches/:batch_id/cancel",
  summary: "Cancel every run of a batch that has not ended; what was published before stays.",
  handle: ({ deps, principal, params, request }) =>
    steer(
      deps,
      principal,
      { batchId: params.batch_id, requestId: request.id },
      { from: ["running", "paused", "cancelled"], to: "cancelled" },
    ),
});

export const batchRoutes = [
  batchReprocess,
  getBatch,
  listResultsOfBatch,
  pauseBatch,
  resumeBatch,
  cancelBatch,
];
