/** Contract of pipeline runs, versions, reprocessing and batches. */
import { z } from "zod";
import { field } from "../field.ts";
import { RUN_STATUSES, TRIGGERS } from "../../domain/work/processing.ts";
import { envelope, Person, Timestamp } from "../fields.ts";
import { BatchId, DocumentId, RunId } from "../ids.ts";
import { documentChoice, requireOneChoice } from "./choice.ts";
import { RunError, WaitingFor } from "./processing-state.ts";

const RunStatus = z.enum(RUN_STATUSES).meta({
  description: "Where the run is; `completed`, `failed` and `cancelled` are its ends",
  example: "completed",
});

const Version = z
  .object({
    version: field.integer("The version that the run makes, from 1", 1),
    pipeline_run_id: RunId,
    trigger: z.enum(TRIGGERS).meta({
      description:
        "Why it runs: an `upload`, a file that was replaced (`replace`), `reprocess`, a `batch`, " +
        "or `restore`",
      example: "upload",
    }),
    status: RunStatus,
    parser_name: field.nullableText("What read the file; null until it is parsed", "pdf"),
    chunker_name: field.nullableText("What cut the text into chunks; null until it is chunked", "page_based"),
    embedding_model: field.nullableText(
      "The model of the vectors; null until they are computed",
      "all-minilm-l6-v2-int8",
    ),
    chunk_count: field.nullableInteger("Null until the text is chunked", 12),
    embedded_chunk_count: field.nullableInteger(
      "Below `chunk_count` by the chunks whose text the embedding provider refuses",
      12,
    ),
    error: RunError.nullable().meta({ description: "Why it failed; null: it did not", example: null }),
    created_by: Person.nullable().describe("Who requested it; null: no longer known"),
    created_at: Timestamp,
    started_at: Timestamp.nullable().describe("Null while it is queued"),
    completed_at: Timestamp.nullable().describe("When it ended, however; null: it has not"),
    is_current: field.flag("Whether it is the version that search serves", true),
  })
  .meta({ id: "Version" });

export const VersionPage = envelope(Version, "VersionPage");

export const Run = Version.extend({
  document_id: DocumentId,
  stage: field.nullableText(
    "What it does, or where it failed: parsing, chunking, embedding or publishing; else null",
    null,
  ),
  progress: z.number().min(0).max(1).meta({
    description: "The share of its work that is done, 0 to 1",
    example: 1,
  }),
  queue_position: field.nullableInteger("Runs before it; null once it is under way", null),
  waiting_for: field.nullableText("The code of `waiting`", null),
  waiting: WaitingFor.nullable().meta({ description: "What it waits for; null: nothing", example: null }),
}).meta({ id: "Run" });

export const PublishedAgain = z.int().min(1).max(2_147_483_647).meta({
  description: "The version to publish again: the one before the published one",
  example: 1,
});

const CHUNKER_NAMES = ["page_based", "markdown", "recursive", "sentence", "fixed_tokens"] as const;
const MAX_CHUNK_TOKENS = 8_192;
const DEFAULT_CHUNK_TOKENS = 240;

const ChunkerConfig = z
  .strictObject({
    max_tokens: z.int().min(50).max(MAX_CHUNK_TOKENS).default(DEFAULT_CHUNK_TOKENS).meta({
      description: "The most tokens of a chunk; never above the embedding model's limit",
      example: DEFAULT_CHUNK_TOKENS,
    }),
    overlap_tokens: z.int().min(0).default(0).meta({
      description: "Tokens that a chunk repeats of the one before; at most half of `max_tokens`",
      example: 0,
    }),
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

const chunking = {
  chunker_name: z.enum(CHUNKER_NAMES).nullish().meta({
    description:
      "How the text is cut into chunks; absent or null: as it was, for a new document `page_based`",
    example: "markdown",
  }),
  chunker_config: ChunkerConfig.nullish().describe("How long chunks are; absent or null: as they were"),
};

/** The body is optional. */
export const Reprocess = z
  .object(chunking)
  .nullish()
  .describe("Without a body the document is chunked as before");

export const RunAccepted = z
  .object({
    document_id: DocumentId,
    pipeline_run_id: RunId,
    status: RunStatus.meta({ example: "queued" }),
  })
  .meta({ id: "RunAccepted" });

export const BatchReprocess = z
  .strictObject({ ...documentChoice(), ...chunking })
  .superRefine(requireOneChoice)
  .meta({
    id: "BatchReprocess",
    example: { document_ids: ["01900000-0000-7000-8000-000000000030"], chunker_name: "markdown" },
  });

export const BatchResult = z
  .object({
    document_id: z
      .unknown()
      .meta({ description: "As it was sent", example: "01900000-0000-7000-8000-000000000030" }),
    success: field.flag("Whether a run was accepted for it", true),
    pipeline_run_id: RunId.nullable().describe("The run; null: none was accepted"),
    error: z
      .object({
        code: field.text(
          "Why not: invalid_id, not_found or forbidden; in the results of a batch also a run's codes",
          "not_found",
        ),
        message: field.text("The same for people", "Document not found"),
      })
      .nullable()
      .meta({ description: "What is wrong; null: nothing", example: null }),
  })
  .meta({ id: "BatchResult" });

export const BatchAccepted = z
  .object({
    batch_id: BatchId,
    total: field.integer("Documents that were asked for, each once", 1),
    accepted: field.integer("Those that will be processed again", 1),
    rejected: field.integer("Those that will not, each with its reason", 0),
    results: z.array(BatchResult).describe("In the order given, a repeated id once; empty for `filters`"),
  })
  .meta({ id: "BatchAccepted" });

const BATCH_STATUSES = ["running", "paused", "cancelled", "completed"] as const;

export const Batch = z
  .object({
    batch_id: BatchId,
    status: z.enum(BATCH_STATUSES).meta({
      description:
        "`cancelled` and `completed` are its ends; a run that failed does not keep it from completing",
      example: "running",
    }),
    total: field.integer("Documents that were asked for, each once", 12),
    accepted: field.integer("Those that are processed again", 11),
    rejected: field.integer("Those that are not", 1),
    counts: z.record(z.enum(RUN_STATUSES), z.int()).meta({
      description: "Runs by status",
      example: { queued: 4, parsing: 0, chunking: 0, embedding: 0, completed: 7, failed: 0, cancelled: 0 },
    }),
    waiting_for: z
      .array(
        z.object({
          code: field.text("What is down or busy", "provider_unavailable"),
          runs: field.integer("Runs that wait for it", 5),
          since: Timestamp.describe("Since when the first of them waits"),
        }),
      )
      .max(50)
      .meta({ description: "What its runs wait for, by code", example: [] }),
    progress: z.number().min(0).max(1).meta({
      description: "The share of accepted documents whose run has ended, 0 to 1",
      example: 0.64,
    }),
    documents_per_minute: z.number().nullable().meta({
      description: "Runs that end in a minute now; null: not known yet, or it has ended",
      example: 120,
    }),
    estimated_seconds_left: field.nullableInteger("Seconds to its end at this rate; null: not known", 2),
    created_at: Timestamp,
    completed_at: Timestamp.nullable().meta({
      description: "When it ended; null: it has not",
      example: null,
    }),
  })
  .meta({ id: "Batch" });

/** A result as the batch shows it later, with the status of its run. */
const BatchRunResult = BatchResult.extend({
  status: RunStatus.nullable().describe("Where its run is; null: none was accepted"),
}).meta({
  id: "BatchRunResult",
});
export const BatchRunResultPage = envelope(BatchRunResult, "BatchRunResultPage");
