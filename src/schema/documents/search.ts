/** Contract of hybrid search. */
import { z } from "zod";
import { FILE_TYPES } from "../../domain/file-type.ts";
import { Uuid } from "../fields.ts";
import { missing } from "../requests/problem.ts";
import { documentFilters } from "./document.ts";

const MAX_QUERY_CHARACTERS = 8_192;
const MAX_HITS = 100;
const DEFAULT_HITS = 10;
const MAX_IDS = 1_000;
/** Spaces of one search. */
const MAX_SPACES = 20;

export const HybridSearch = z
  .object({
    query: z
      .string()
      .min(1)
      .max(MAX_QUERY_CHARACTERS)
      .refine((text) => text.trim() !== "", "must not be blank")
      .meta({ description: "Natural language", example: "How did revenue develop?" }),
    space_id: Uuid.nullish().meta({
      description: "The space to search. Either this or `space_ids` is needed",
    }),
    space_ids: z
      .array(Uuid)
      .min(1)
      .max(MAX_SPACES)
      .nullish()
      .meta({
        description:
          "The spaces to search at once, in one ranking: each hit has the score that it has in its space " +
          "alone. One out of reach is as an empty one",
      }),
    document_id: Uuid.nullish().meta({
      description: "Narrows to this one; the same as `document_ids` of one",
    }),
    document_ids: z
      .array(Uuid)
      .max(MAX_IDS)
      .nullish()
      .meta({ description: "Narrows to these; an empty list narrows to nothing, null does not narrow" }),
    folder_id: Uuid.nullish().meta({
      description: "Narrows to this one and all folders below; the same as `folder_ids` of one",
    }),
    folder_ids: z.array(Uuid).max(MAX_IDS).nullish().meta({
      description:
        "Narrows to these and all folders below; an empty list narrows to nothing, null does not narrow",
    }),
    filters: documentFilters(),
    limit: z
      .int()
      .min(1)
      .max(MAX_HITS)
      .default(DEFAULT_HITS)
      .meta({ description: "The most results", example: DEFAULT_HITS }),
    min_score: z
      .number()
      .min(0)
      .max(1)
      .nullish()
      .meta({ description: "Leaves out results with a lower `score`", example: 0.2 }),
    max_chunks_per_document: z
      .int()
      .min(1)
      .max(MAX_HITS)
      .nullish()
      .meta({ description: "The most results of one document", example: 3 }),
  })
  .refine((body) => isGiven(body.space_id) || isGiven(body.space_ids), {
    path: ["space_id"],
    params: { problem: { ...missing([]) } },
    when: isObject,
  })
  .refine((body) => !isGiven(body.space_id) || !isGiven(body.space_ids), {
    path: ["space_ids"],
    message: "space_id and space_ids exclude each other",
    when: isObject,
  })
  .refine((body) => !isGiven(body.document_id) || !isGiven(body.document_ids), {
    path: ["document_ids"],
    message: "document_id and document_ids exclude each other",
    when: isObject,
  })
  .refine((body) => !isGiven(body.folder_id) || !isGiven(body.folder_ids), {
    path: ["folder_ids"],
    message: "folder_id and folder_ids exclude each other",
    when: isObject,
  })
  .meta({ id: "HybridSearch" });

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** Checks of several fields are made whatever else is wrong, so that all problems are named at once. */
function isObject({ value }: { readonly value: unknown }): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const share = z.number().min(0).max(1).nullable();

const SearchHit = z
  .object({
    chunk_id: Uuid,
    document_id: Uuid,
    space_id: Uuid,
    document_name: z.string().meta({ example: "report.pdf" }),
    file_type: z.enum(FILE_TYPES).meta({ example: "PDF" }),
    folder_path: z.string().nullable().meta({ example: "Reports/2026" }),
    chunk_index: z.int().meta({ example: 3 }),
    score: z.number().min(0).max(1).meta({ description: "dense_score + sparse_score", example: 0.61 }),
    dense_score: share.meta({ description: "Share of vector search; null without a vector", example: 0.4 }),
    sparse_score: share.meta({
      description: "Share of BM25; null where no query term is in the chunk",
      example: 0.21,
    }),
    text: z.string().meta({ example: "Revenue grew by 12 percent." }),
    metadata: z
      .record(z.string(), z.unknown())
      .meta({ example: { heading_text: "Results", format: "pdf", word_count: 5 } }),
  })
  .meta({ id: "SearchHit" });

export const SearchResults = z
  .object({
    query: z.string().meta({ example: "How did revenue develop?" }),
    space_id: Uuid.nullable().meta({ description: "The space that was searched; null with `space_ids`" }),
    space_ids: z
      .array(Uuid)
      .optional()
      .meta({ description: "The spaces that were asked for, of a request with `space_ids`" }),
    total_results: z.int().meta({ description: "Number of results in this answer", example: 1 }),
    results: z.array(SearchHit).meta({
      description:
        "Highest score first; where the service has a reranker, in its order, with its score as " +
        "metadata.rerank_score",
    }),
  })
  .meta({ id: "SearchResults" });
