/** Contract of the comparison of two searches. */
import { z } from "zod";
import { ChunkId, DocumentId } from "../ids.ts";
import { HybridSearch, SearchResults } from "./search.ts";

const EXAMPLE = { query: "How did revenue develop?", space_id: "01900000-0000-7000-8000-000000000010" };

export const SearchesToCompare = z
  .strictObject({
    left: HybridSearch.describe("The search to compare with"),
    right: HybridSearch.describe("The search with other settings"),
  })
  .meta({ id: "SearchesToCompare", example: { left: EXAMPLE, right: { ...EXAMPLE, rerank: false } } });

const rank = (side: string, example: number) =>
  z
    .int()
    .min(1)
    .nullable()
    .meta({ description: `Its place in the ${side} results, from 1; null: it is not there`, example });
const score = (side: string, example: number) =>
  z
    .number()
    .nullable()
    .meta({ description: `Its score in the ${side} results; null: it is not there`, example });
const took = (side: string) =>
  z
    .int()
    .min(0)
    .meta({ description: `Milliseconds that the ${side} search took`, example: 38 });

const RankChange = z
  .object({
    chunk_id: ChunkId,
    document_id: DocumentId,
    left_rank: rank("left", 3),
    right_rank: rank("right", 1),
    left_score: score("left", 0.52),
    right_score: score("right", 0.52),
    change: z.enum(["same", "up", "down", "only_left", "only_right"]).meta({
      description: "From left to right: `up` is nearer to the first place, `only_right` is new there",
      example: "up",
    }),
  })
  .meta({ id: "RankChange" });

export const SearchComparison = z
  .object({
    left: SearchResults.describe("What the left search found"),
    right: SearchResults.describe("What the right search found"),
    changes: z
      .array(RankChange)
      .describe("Each chunk that either side found: the left ones in their order, then those of the right"),
    overlap: z.number().min(0).max(1).meta({
      description: "The share of these chunks that both sides found (Jaccard); 1 if none was found",
      example: 0.8,
    }),
    left_ms: took("left"),
    right_ms: took("right"),
  })
  .meta({ id: "SearchComparison" });
