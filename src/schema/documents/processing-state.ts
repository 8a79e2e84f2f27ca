/** Contract of how far a document's latest run is, and of what it met. */
import { z } from "zod";
import { field } from "../field.ts";
import { RUN_STATUSES } from "../../domain/work/processing.ts";
import { Timestamp } from "../fields.ts";
import { RunId } from "../ids.ts";

export const RunError = z
  .object({
    stage: field.text("Where it failed: parsing, chunking, embedding or publishing", "parsing"),
    code: field.text(
      "Why it failed: empty_file, unsupported_file_type, encrypted, corrupt, too_large, timeout, out_of_memory, " +
        "too_complex, no_text, rejected_by_provider, worker_crashed, superseded, cancelled, internal",
      "encrypted",
    ),
    message: field.text("Why, for people", "The file is encrypted."),
  })
  .meta({ id: "RunError" });

export const WaitingFor = z
  .object({
    code: field.text(
      "What is down or busy: provider_rate_limited, provider_timeout, provider_unavailable, " +
        "storage_unavailable, insufficient_storage, database_unavailable, workflows_unavailable, " +
        "starved, internal",
      "provider_unavailable",
    ),
    since: Timestamp.describe("Since when it waits"),
    attempts: field.integer("Attempts in a row that met it", 3),
    next_attempt_at: Timestamp.nullish().describe(
      "When it is tried again; null or absent: as soon as a worker takes it",
    ),
  })
  .meta({
    id: "WaitingFor",
    description: "It goes on by itself once that is over; nothing needs to be sent again",
  });

const Warnings = z.array(z.record(z.string(), z.unknown())).meta({
  example: [],
  description:
    "Parts that were left out of a document that is otherwise whole. `not_embedded`: the embedding " +
    "provider refuses the text of this chunk, which is found by its words alone; the first hundred are " +
    "named, and processing the document again tries them again",
});

/** Right after the upload only the three flags are there; the other fields follow as the run proceeds. */
export const ProcessingState = z
  .object({
    parsed: field.flag("True once text is extracted", true),
    chunked: field.flag("True once text is split into chunks", true),
    embedded: field.flag("True once embeddings are computed, but for texts that the provider refuses", true),
    searchable: z.boolean().optional().meta({
      description:
        "True if a published version answers searches and chats, whatever a newer run of the document does",
      example: true,
    }),
    pipeline_run_id: RunId.optional().describe("The latest run, whose state this is"),
    pipeline_status: z.enum(RUN_STATUSES).optional().meta({
      description: "Where the latest run is; `completed`, `failed` and `cancelled` are its ends",
      example: "completed",
    }),
    chunk_count: z.int().nullish().meta({ description: "Null until the text is chunked", example: 12 }),
    embedding_model: z.string().nullish().meta({
      description: "The model of the vectors; null until they are computed",
      example: "all-minilm-l6-v2-int8",
    }),
    embedded_chunk_count: z.int().nullish().meta({
      description: "Below `chunk_count` by the chunks whose text the embedding provider refuses",
      example: 12,
    }),
    parser_name: z.string().nullish().meta({
      description: "What read the file; null until it is parsed",
      example: "pdf",
    }),
    parser_version: z
      .int()
      .nullish()
      .meta({
        description:
          "The version of the parsers that read the file, higher for each whose text, locations or warnings differ; " +
          "null until it is parsed, and for what versions before 0.11.0 parsed",
        example: 1,
      }),
    chunker_name: z.string().nullish().meta({
      description: "What cut the text into chunks; null until it is chunked",
      example: "page_based",
    }),
    progress: z.number().min(0).max(1).optional().meta({
      description: "The share of the run's work that is done, 0 to 1",
      example: 1,
    }),
    waiting_for: WaitingFor.optional(),
    error: RunError.nullish().meta({ description: "Why the run failed; null: it did not", example: null }),
    warnings: Warnings.optional(),
  })
  .meta({ id: "ProcessingState" });
