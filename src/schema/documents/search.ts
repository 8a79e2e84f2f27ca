/** Contract of hybrid search. */
import { z } from "zod";
import { FILE_TYPES } from "../../domain/file-type.ts";
import { Uuid } from "../fields.ts";

const MAX_QUERY_CHARACTERS = 8_192;
const MAX_HITS = 100;
const DEFAULT_HITS = 10;
const MAX_IDS = 1_000;

export const HybridSearch = z
  .object({
    query: z
      .string()
      .min(1)
      .max(MAX_QUERY_CHARACTERS)
      .refine((text) => text.trim() !== "", "must not be blank")
      .meta({ description: "Natural language", example: "How did revenue develop?" }),
    space_id: Uuid,
    document_ids: z
      .array(Uuid)
      .max(MAX_IDS)
      .nullish()
      .meta({ description: "Narrows to these; an empty list narrows to nothing, null does not narrow" }),
    folder_ids: z.array(Uuid).max(MAX_IDS).nullish().meta({
      description:
        "Narrows to these and all folders below; an empty list narrows to nothing, null does not narrow",
    }),
    limit: z.int().min(1).max(MAX_HITS).default(DEFAULT_HITS).meta({ example: DEFAULT_HITS }),
    min_score: z.number().min(0).max(1).nullish().meta({ example: 0.2 }),
    max_chunks_per_document: z.int().min(1).max(MAX_HITS).nullish().meta({ example: 3 }),
  })
  .meta({ id: "HybridSearch" });

const share = z.number().min(0).max(1).nullable();

const SearchHit = z
  .object({
    chunk_id: Uuid,
    document_id: Uuid,
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
    space_id: Uuid,
    total_results: z.int().meta({ description: "Number of results in this answer", example: 1 }),
    results: z.array(SearchHit).meta({
      description:
        "Highest score first; where the service has a reranker, in its order, with its score as " +
        "metadata.rerank_score",
    }),
  })
  .meta({ id: "SearchResults" });
