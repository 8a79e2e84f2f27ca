/** Contract of pipeline runs, versions, reprocessing and batches. */
import { z } from "zod";
import { RUN_STATUSES, TRIGGERS } from "../../domain/work/processing.ts";
import { envelope, Person, Timestamp, Uuid } from "../fields.ts";
import { documentFilters } from "./document.ts";
import { RunError, WaitingFor } from "./processing-state.ts";

const Version = z
  .object({
    version: z.int().meta({ example: 1 }),
    pipeline_run_id: Uuid,
    trigger: z.enum(TRIGGERS),
    status: z.enum(RUN_STATUSES),
    parser_name: z.string().nullable().meta({ example: "markdown" }),
    chunker_name: z.string().nullable().meta({ example: "page_based" }),
    embedding_model: z.string().nullable().meta({ example: "all-MiniLM-L6-v2" }),
    chunk_count: z.int().nullable().meta({ example: 12 }),
    embedded_chunk_count: z.int().nullable().meta({ example: 12 }),
    error: RunError.nullable(),
    created_by: Person.nullable(),
    created_at: Timestamp,
    started_at: Timestamp.nullable(),
    completed_at: Timestamp.nullable(),
    is_current: z.boolean().meta({ description: "The version that search serves" }),
  })
  .meta({ id: "Version" });

export const VersionPage = envelope(Version, "VersionPage");

export const Run = Version.extend({
  document_id: Uuid,
  stage: z.string().nullable().meta({ example: "embedding" }),
  progress: z.number().min(0).max(1).meta({ example: 0.5 }),
  queue_position: z
    .int()
    .nullable()
    .meta({ description: "Runs before it; null once it is under way", example: null }),
  waiting_for: z.string().nullable().meta({ description: "The code of `waiting`", example: null }),
  waiting: WaitingFor.nullable(),
}).meta({ id: "Run" });

export const RunParams = z.object({ pipeline_run_id: Uuid });
export const BatchParams = z.object({ batch_id: Uuid });
export const VersionParams = z.object({
  document_id: Uuid,
  version: z.int().min(1).max(2_147_483_647).meta({ example: 1 }),
});

const CHUNKER_NAMES = ["page_based", "markdown", "recursive", "sentence", "fixed_tokens"] as const;
const MAX_CHUNK_TOKENS = 8_192;
const DEFAULT_CHUNK_TOKENS = 240;

const ChunkerConfig = z
  .object({
    max_tokens: z
      .int()
      .min(50)
      .max(MAX_CHUNK_TOKENS)
      .default(DEFAULT_CHUNK_TOKENS)
      .meta({ description: "Never above the embedding model's limit", example: DEFAULT_CHUNK_TOKENS }),
    overlap_tokens: z.int().min(0).default(0).meta({ description: "At most half of max_tokens", example: 0 }),
  })
  .superRefine((config, context) => {
    if (config.overlap_tokens > config.max_tokens / 2)
      context.addIssue({
        code: "too_big",
        origin: "int",
        maximum: Math.floor(config.max_tokens / 2),
        inclusive: true,
        path: ["overlap_tokens"],
        message: "too big",
      });
  })
  .meta({ id: "ChunkerConfig" });

const chunking = { chunker_name: z.enum(CHUNKER_NAMES).nullish(), chunker_config: ChunkerConfig.nullish() };

/** The body is optional. */
export const Reprocess = z
  .object(chunking)
  .nullish()
  .meta({ description: "Without a body the document is chunked as before" });

export const RunAccepted = z
  .object({
    document_id: Uuid,
    pipeline_run_id: Uuid,
    status: z.enum(RUN_STATUSES).meta({ example: "queued" }),
  })
  .meta({ id: "RunAccepted" });

const MAX_BATCH_DOCUMENTS = 1_000;

export const BatchReprocess = z
  .object({
    document_ids: z
      .array(z.unknown())
      .min(1)
      .max(MAX_BATCH_DOCUMENTS)
      .nullish()
      .meta({
        description:
          "An element that is no id, unknown or not writable is answered in `results` and does not stop " +
          "the others",
        example: ["01900000-0000-7000-8000-000000000030"],
      }),
    filters: documentFilters(),
    ...chunking,
  })
  .superRefine((body, context) => {
    const hasIds = body.document_ids !== undefined && body.document_ids !== null;
    if (!hasIds && body.filters.length === 0)
      context.addIssue({
        code: "invalid_type",
        expected: "array",
        path: ["document_ids"],
        input: undefined,
        message: "missing",
      });
    if (hasIds && body.filters.length > 0)
      context.addIssue({
        code: "custom",
        path: ["filters"],
        message: "document_ids and filters exclude each other",
      });
  })
  .meta({ id: "BatchReprocess" });

export const BatchResult = z
  .object({
    document_id: z
      .unknown()
      .meta({ description: "As it was sent", example: "01900000-0000-7000-8000-000000000030" }),
    success: z.boolean(),
    pipeline_run_id: Uuid.nullable(),
    error: z
      .object({
        code: z.string().meta({
          description: "invalid_id, not_found or forbidden; in the results of a batch also a run's codes",
          example: "not_found",
        }),
        message: z.string().meta({ example: "Document not found" }),
      })
      .nullable(),
  })
  .meta({ id: "BatchResult" });

export const BatchAccepted = z
  .object({
    batch_id: Uuid,
    total: z.int().meta({ example: 1 }),
    accepted: z.int().meta({ example: 1 }),
    rejected: z.int().meta({ example: 0 }),
    results: z
      .array(BatchResult)
      .meta({ description: "In the order given, a repeated id once; empty for `filters`" }),
  })
  .meta({ id: "BatchAccepted" });

const BATCH_STATUSES = ["running", "paused", "cancelled", "completed"] as const;

export const Batch = z
  .object({
    batch_id: Uuid,
    status: z.enum(BATCH_STATUSES),
    total: z.int().meta({ example: 12 }),
    accepted: z.int().meta({ example: 11 }),
    rejected: z.int().meta({ example: 1 }),
    counts: z
      .record(z.enum(RUN_STATUSES), z.int())
      .meta({ description: "Runs by status", example: { queued: 4, completed: 7 } }),
    waiting_for: z
      .array(
        z.object({
          code: z.string().meta({ example: "provider_unavailable" }),
          runs: z.int().meta({ example: 5 }),
          since: Timestamp,
        }),
      )
      .max(50)
      .meta({ description: "What its runs wait for, by code", example: [] }),
    progress: z.number().min(0).max(1).meta({ example: 0.64 }),
    documents_per_minute: z.number().nullable().meta({ example: 120 }),
    estimated_seconds_left: z.int().nullable().meta({ example: 2 }),
    created_at: Timestamp,
    completed_at: Timestamp.nullable(),
  })
  .meta({ id: "Batch" });

/** A result as the batch shows it later, with the status of its run. */
const BatchRunResult = BatchResult.extend({ status: z.enum(RUN_STATUSES).nullable() }).meta({
  id: "BatchRunResult",
});
export const BatchRunResultPage = envelope(BatchRunResult, "BatchRunResultPage");
