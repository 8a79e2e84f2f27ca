/** `/v1/vector_stores`, as OpenAI's clients send and read it. */
import { z } from "zod";
import { field } from "../field.ts";
import { ChunkId, DocumentId, FolderId, SpaceId } from "../ids.ts";
import { NOT_BLANK } from "../requests/patterns.ts";
import { AttributeFilter, AttributesOutput, Metadata } from "./attributes.ts";
import { MomentInSeconds } from "./files.ts";
import { FileIdInput, FileIdOutput, VectorStoreIdInput, VectorStoreIdOutput } from "./ids.ts";
import { listOf, listQuery } from "./list.ts";

const MAX_NAME = 512;
export const MAX_FILES = 500;
const MAX_DAYS = 365;
const MIN_CHUNK = 100;
const MAX_CHUNK = 4_096;
const MAX_RESULTS = 50;
const DEFAULT_RESULTS = 10;
const MAX_QUERIES = 10;
const MAX_QUERY_CHARACTERS = 8_192;

const StoreName = z.string().max(MAX_NAME).meta({ description: "Its name", example: "Manuals" });

const ExpiresAfter = z
  .object({
    anchor: z.literal("last_active_at").describe("When it was searched or changed last"),
    days: z.int().min(1).max(MAX_DAYS).meta({ description: "Days after that", example: 7 }),
  })
  .meta({ id: "VectorStoreExpiresAfter", description: "After how many days without use it expires" });

const StaticChunking = z
  .object({
    max_chunk_size_tokens: z
      .int()
      .min(MIN_CHUNK)
      .max(MAX_CHUNK)
      .meta({ description: "Tokens of a chunk; never more than the embedding model takes", example: 800 }),
    chunk_overlap_tokens: z
      .int()
      .min(0)
      .max(MAX_CHUNK / 2)
      .meta({ description: "Tokens that two chunks share; at most half of a chunk", example: 400 }),
  })
  .refine((chunking) => chunking.chunk_overlap_tokens <= chunking.max_chunk_size_tokens / 2, {
    path: ["chunk_overlap_tokens"],
    message: "must be at most half of max_chunk_size_tokens",
  })
  .describe("The sizes, in tokens");

export const ChunkingStrategy = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("auto").describe("The default chunker") }),
    z.object({
      type: z.literal("static").describe("Chunks of a fixed number of tokens"),
      static: StaticChunking,
    }),
  ])
  .meta({
    description: "How the text is chunked; that of the store if it is absent",
    example: { type: "static", static: { max_chunk_size_tokens: 800, chunk_overlap_tokens: 400 } },
  });

/** Null is the default chunker, undefined what was not said. */
export function chunkingOf(strategy: z.output<typeof ChunkingStrategy> | null | undefined) {
  if (strategy === undefined || strategy === null) return undefined;
  return strategy.type === "auto" ? null : strategy.static;
}

export const VectorStoreCreate = z
  .object({
    name: StoreName.nullish(),
    description: z
      .string()
      .max(MAX_NAME)
      .nullish()
      .meta({ description: "What it is for", example: "The manuals of all machines" }),
    file_ids: z.array(FileIdInput).max(MAX_FILES).nullish().describe("Files that are put into it"),
    chunking_strategy: ChunkingStrategy.nullish(),
    expires_after: ExpiresAfter.nullish(),
    metadata: Metadata.nullish().meta({
      description:
        "At most 16 pairs: keys of 64 characters, texts of 512. `space_id` names the space that the store is " +
        "made in; without it, it is made in the caller's private one",
      example: { team: "service" },
    }),
  })
  .meta({ id: "VectorStoreCreate", example: { name: "Manuals" } });

export const VectorStoreUpdate = z
  .object({
    name: StoreName.nullish(),
    expires_after: ExpiresAfter.nullish().describe("Null: it does not expire any more"),
    metadata: Metadata.nullish().describe("All of it; null is none"),
  })
  .meta({ id: "VectorStoreUpdate", example: { name: "Manuals of 2026" } });

export const FileCounts = z
  .object({
    in_progress: field.integer("Files that are processed, or wait for it", 0),
    completed: field.integer("Files that search finds", 2),
    failed: field.integer("Files whose processing failed", 0),
    cancelled: field.integer("Files whose processing was cancelled", 0),
    total: field.integer("All files", 2),
  })
  .meta({ id: "VectorStoreFileCounts", description: "How many files have which status" });

export const VectorStore = z
  .object({
    id: VectorStoreIdOutput,
    object: z.literal("vector_store").describe("As OpenAI's clients expect it"),
    created_at: MomentInSeconds,
    name: field.text("As it was given, or the folder's", "Manuals"),
    description: field.nullableText("What it is for", null),
    usage_bytes: field.integer("The size of its completed files", 4_096),
    file_counts: FileCounts,
    status: z.enum(["expired", "in_progress", "completed"]).meta({
      description: "`in_progress` while files are; `expired` stores take no files",
      example: "completed",
    }),
    expires_after: ExpiresAfter.nullable().describe("Null: it does not expire"),
    expires_at: MomentInSeconds.nullable().describe("When it expires unless it is used"),
    last_active_at: MomentInSeconds.describe("When it was used last, to the minute"),
    metadata: z.record(z.string(), z.string()).meta({ description: "As it was given", example: {} }),
    space_id: SpaceId,
    folder_id: FolderId.describe("The folder that it is, for all other endpoints"),
  })
  .meta({ id: "VectorStore" });

export const VectorStoreList = listOf(VectorStore, "VectorStoreList");
export const VectorStoresQuery = listQuery(VectorStoreIdInput);

export const VectorStoreDeleted = z
  .object({
    id: VectorStoreIdOutput,
    object: z.literal("vector_store.deleted").describe("As OpenAI's clients expect it"),
    deleted: z.literal(true).describe("It is deleted"),
  })
  .meta({ id: "VectorStoreDeleted" });

const Query = z
  .string()
  .min(1)
  .max(MAX_QUERY_CHARACTERS)
  .refine((text) => text.trim() !== "", "must not be blank")
  .meta({ description: "What is looked for", pattern: NOT_BLANK, example: "How often is the oil changed?" });

const weight = (side: string) =>
  z
    .number()
    .min(0)
    .max(1_000)
    .meta({ description: `How much search ${side} counts`, example: 1 });

const RankingOptions = z
  .strictObject({
    ranker: z.enum(["none", "auto", "default-2024-11-15"]).default("auto").meta({
      description: "`none` leaves the service's reranker out, if it has one",
      example: "auto",
    }),
    score_threshold: z
      .number()
      .min(0)
      .max(1)
      .default(0)
      .meta({ description: "Leaves out results with a lower score", example: 0.2 }),
    hybrid_search: z
      .strictObject({ embedding_weight: weight("by meaning"), text_weight: weight("by words") })
      .refine((weights) => weights.embedding_weight + weights.text_weight > 0, {
        path: ["embedding_weight"],
        message: "one of the weights must be greater than 0",
      })
      .nullish()
      .describe("In place of the weights that were measured for the model"),
  })
  .meta({
    id: "VectorStoreRankingOptions",
    description: "How the results are ranked, and which are left out",
  });

export const VectorStoreSearch = z
  .strictObject({
    query: z.union([Query, z.array(Query).min(1).max(MAX_QUERIES)]).meta({
      description: `A query, or at most ${MAX_QUERIES}, whose results make one ranking`,
      example: "How often is the oil changed?",
    }),
    filters: AttributeFilter.nullish(),
    max_num_results: z
      .int()
      .min(1)
      .max(MAX_RESULTS)
      .default(DEFAULT_RESULTS)
      .meta({ description: "The most results", example: DEFAULT_RESULTS }),
    ranking_options: RankingOptions.nullish(),
    rewrite_query: z
      .boolean()
      .nullish()
      .meta({ description: "Accepted; queries are searched for as they are", example: false }),
  })
  .meta({ id: "VectorStoreSearch" });

const TextContent = z
  .object({
    type: z.literal("text").describe("As OpenAI's clients expect it"),
    text: field.text("The text", "The oil is changed every 500 hours."),
  })
  .meta({ id: "VectorStoreText" });

const pageOf = <Item extends z.ZodType, Name extends string>(item: Item, object: Name, more: z.ZodRawShape) =>
  z.object({
    object: z.literal(object).describe("As OpenAI's clients expect it"),
    ...more,
    data: z.array(item).describe("All of them"),
    has_more: z.literal(false).describe("There are no more"),
    next_page: z.null().describe("There is none"),
  });

const FoundChunk = z
  .object({
    file_id: FileIdOutput,
    filename: field.text("The file's name", "manual.pdf"),
    score: z.number().min(0).max(1).meta({ description: "As in hybrid search", example: 0.61 }),
    attributes: AttributesOutput,
    content: z.array(TextContent).describe("The text of the chunk"),
    document_id: DocumentId.describe("The document that the file is in the store"),
    chunk_id: ChunkId,
  })
  .meta({ id: "VectorStoreSearchResult" });

export const VectorStoreSearchPage = pageOf(FoundChunk, "vector_store.search_results.page", {
  search_query: z.array(z.string()).meta({ description: "The queries", example: ["oil change"] }),
}).meta({ id: "VectorStoreSearchPage" });

export const FileContentPage = pageOf(TextContent, "vector_store.file_content.page", {}).meta({
  id: "VectorStoreFileContentPage",
});
