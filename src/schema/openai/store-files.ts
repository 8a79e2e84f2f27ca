/** The files of vector stores and their batches, as OpenAI's clients send and read them. */
import { z } from "zod";
import { field } from "../field.ts";
import { DocumentId } from "../ids.ts";
import { AttributesInput, AttributesOutput } from "./attributes.ts";
import { MomentInSeconds } from "./files.ts";
import { FileBatchIdOutput, FileIdInput, FileIdOutput, VectorStoreIdOutput } from "./ids.ts";
import { listOf, listQuery } from "./list.ts";
import { ChunkingStrategy, FileCounts, MAX_FILES } from "./vector-stores.ts";

const OneFile = z.object({
  file_id: FileIdInput,
  attributes: AttributesInput.nullish(),
  chunking_strategy: ChunkingStrategy.nullish(),
});

export const StoreFileCreate = OneFile.meta({ id: "VectorStoreFileCreate" });

export const StoreFileUpdate = z
  .object({ attributes: AttributesInput.nullable() })
  .meta({ id: "VectorStoreFileUpdate", example: { attributes: { year: 2026 } } });

export const FileBatchCreate = z
  .object({
    file_ids: z
      .array(FileIdInput)
      .min(1)
      .max(MAX_FILES)
      .nullish()
      .describe("The files; left out where `files` is given"),
    files: z
      .array(OneFile)
      .min(1)
      .max(MAX_FILES)
      .nullish()
      .describe(
        "The files, each with attributes and chunking of its own; left out where `file_ids` is given",
      ),
    attributes: AttributesInput.nullish(),
    chunking_strategy: ChunkingStrategy.nullish(),
  })
  .superRefine(({ file_ids: ids, files }, context) => {
    const refuse = (field: string, message: string): void =>
      context.addIssue({ code: "custom", path: [field], message });
    if (ids && files) refuse("files", "only one of `file_ids` and `files` may be given");
    if (!ids && !files) refuse("file_ids", "one of `file_ids` and `files` must be given");
  })
  .meta({
    id: "VectorStoreFileBatchCreate",
    description: "Either `file_ids`, or `files`",
    override: { anyOf: [{ required: ["file_ids"] }, { required: ["files"] }] },
    example: { file_ids: ["file-01900000000070008000000000000033"] },
  });

export const StoreFile = z
  .object({
    id: FileIdOutput,
    object: z.literal("vector_store.file").describe("As OpenAI's clients expect it"),
    created_at: MomentInSeconds.describe("When it came into the store"),
    vector_store_id: VectorStoreIdOutput,
    usage_bytes: field.integer("Its size once it has completed", 2_048),
    status: z.enum(["in_progress", "completed", "cancelled", "failed"]).meta({
      description: "By the document's latest run",
      example: "completed",
    }),
    last_error: z
      .object({
        code: z
          .enum(["server_error", "unsupported_file", "invalid_file", "rate_limit_exceeded"])
          .meta({ description: "The kind of failure", example: "invalid_file" }),
        message: field.text("What went wrong", "The file is empty."),
      })
      .nullable()
      .meta({ description: "Why it failed", example: null }),
    attributes: AttributesOutput,
    chunking_strategy: z
      .union([
        z.object({
          type: z.literal("static").describe("As it was asked for"),
          static: z
            .object({
              max_chunk_size_tokens: field.integer("Tokens of a chunk", 240),
              chunk_overlap_tokens: field.integer("Tokens that two share", 0),
            })
            .describe("The sizes, in tokens"),
        }),
        z.object({ type: z.literal("other").describe("A document that people put there") }),
      ])
      .describe("How it is chunked"),
    filename: field.text("Its name", "manual.pdf"),
    document_id: DocumentId,
    waiting_for: field.nullableText("The code of the outage that an `in_progress` file waits for", null),
    waiting_since: MomentInSeconds.nullable().meta({ description: "Since when it waits", example: null }),
  })
  .meta({ id: "VectorStoreFile" });

export const StoreFileList = listOf(StoreFile, "VectorStoreFileList");

export const StoreFileDeleted = z
  .object({
    id: FileIdOutput,
    object: z.literal("vector_store.file.deleted").describe("As OpenAI's clients expect it"),
    deleted: z.literal(true).describe("It is deleted"),
  })
  .meta({ id: "VectorStoreFileDeleted" });

export const StoreFilesQuery = listQuery(FileIdInput).extend({
  filter: z
    .enum(["in_progress", "completed", "failed", "cancelled"])
    .optional()
    .meta({ description: "Only files with this status", example: "completed" }),
});

export const FileBatch = z
  .object({
    id: FileBatchIdOutput,
    object: z.literal("vector_store.files_batch").describe("As OpenAI's clients expect it"),
    created_at: MomentInSeconds,
    vector_store_id: VectorStoreIdOutput,
    status: z.enum(["in_progress", "completed", "cancelled", "failed"]).meta({
      description: "`failed` if all files did; `cancelled` once no file of a cancelled batch is under way",
      example: "completed",
    }),
    file_counts: FileCounts,
  })
  .meta({ id: "VectorStoreFileBatch" });
