/** POST /data/batch-reprocess, and everything of /data/batches/{batch_id}. */
import { BatchId } from "../../../schema/ids.ts";
import { WaitQuery } from "../../../schema/fields.ts";
import { whenChanged } from "../../waits/when-changed.ts";
import { readBatch } from "../../../commands/batches/batch.ts";
import { cancelBatch } from "../../../commands/batches/cancel-batch.ts";
import { pauseBatch } from "../../../commands/batches/pause-batch.ts";
import { resumeBatch } from "../../../commands/batches/resume-batch.ts";
import { startBatch } from "../../../commands/batches/start-batch.ts";
import { readTenant } from "../../../db/pool.ts";
import { type BatchRow, listBatchResults } from "../../../db/runs/batches.ts";
import { describeBatch } from "../../../domain/work/batch.ts";
import { pageOf } from "../../../schema/fields.ts";
import { PartsQuery } from "../../../schema/documents/text.ts";
import { Batch, BatchAccepted, BatchReprocess, BatchRunResultPage } from "../../../schema/documents/run.ts";
import { defineRoute } from "../../route.ts";

const FOR_STARTER = "For the user who started it, while that user reaches all of its spaces.";

const batchReprocess = defineRoute("POST /data/batch-reprocess", {
  operation: "batches.create",
  access: "keys",
  capability: "write",
  audit: { action: "documents:reprocess", resource: "batch" },
  status: 202,
  summary:
    "Process many documents again: 1–1,000 by their ids, or up to 100,000 that filters and folders choose.",
  description:
    "For documents of spaces in which the caller is an editor or an owner. An id that cannot be " +
    "reprocessed is answered in `results` and stops no other. Filters narrow to the documents " +
    "that the caller may write. Published versions stay searchable until new ones replace them.",
  body: BatchReprocess,
  response: BatchAccepted,
  async idempotent({ deps, principal, answer }) {
    if (answer === null) return;
    const id = BatchId.parse(answer["batch_id"]);
    await readTenant(deps.db, principal.organization, (sql) =>
      readBatch(sql, principal, "documents:reprocess", id),
    );
  },
  handle: ({ deps, caller, body }) =>
    startBatch(deps, caller, {
      documentIds: body.document_ids ?? null,
      filters: body.filters,
      folderIds: body.folder_ids ?? null,
      chunkerName: body.chunker_name ?? null,
      chunkerConfig: body.chunker_config ?? null,
    }),
});

const present = (batch: BatchRow) => ({ ...batch, ...describeBatch(batch, Date.now()) });

const getBatch = defineRoute("GET /data/batches/:batch_id", {
  operation: "batches.get",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "batch" },
  summary: "The status of a batch: runs by status, progress, rate and time left.",
  description:
    `${FOR_STARTER} With \`wait\` it answers when the batch is paused, resumed or at its end, and at once if it ` +
    "has ended.",
  query: WaitQuery,
  response: Batch,
  async handle({ deps, principal, params, query, request }) {
    const batch = await whenChanged(
      { deps, principal, request, waitSeconds: query.wait },
      (caller) =>
        readTenant(deps.db, caller.organization, (sql) =>
          readBatch(sql, caller, "documents:read", params.batch_id),
        ),
      ({ status: state, completed_at }) =>
        completed_at === null ? { kind: "batch", id: params.batch_id, state } : null,
    );
    return present(batch);
  },
});

const listResultsOfBatch = defineRoute("GET /data/batches/:batch_id/results", {
  operation: "batches.results",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "batch" },
  summary: "The result of each document of a batch; documents that were not accepted come last.",
  description: `${FOR_STARTER} The results of runs that have not ended are there too, with their status.`,
  query: PartsQuery,
  response: BatchRunResultPage,
  async handle({ principal, read, params, query }) {
    const { items, total } = await read(async (sql) => {
      const batch = await readBatch(sql, principal, "documents:read", params.batch_id);
      return listBatchResults(sql, batch.batch_id, query);
    });
    return pageOf({ items, total }, query);
  },
});

const STEERS = { pause: pauseBatch, resume: resumeBatch, cancel: cancelBatch };

const steering = (verb: keyof typeof STEERS, summary: string, means: string) =>
  defineRoute(`POST /data/batches/:batch_id/${verb}`, {
    operation: `batches.${verb}`,
    access: "keys",
    capability: "write",
    audit: { action: "documents:reprocess", resource: "batch" },
    status: 202,
    response: Batch,
    errors: [400],
    summary,
    description: `${FOR_STARTER} ${means}`,
    handle: async ({ deps, caller, params }) => present(await STEERS[verb](deps, caller, params.batch_id)),
  });

export const batchRoutes = [
  batchReprocess,
  getBatch,
  listResultsOfBatch,
  steering(
    "pause",
    "Pause a batch: no more of its runs are released, and released ones continue.",
    "Runs that are released go on. A batch that is paused stays so; one that has ended is 400.",
  ),
  steering(
    "resume",
    "Release the runs of a paused batch again.",
    "A batch that runs goes on; one that has ended is 400.",
  ),
  steering(
    "cancel",
    "Cancel every run of a batch that has not ended; what was published before stays.",
    "Runs that have ended keep their result, and what was published before stays searchable. A batch that " +
      "has ended is 400.",
  ),
];
