/** Contract of hybrid search. */
import { z } from "zod";
import { field } from "../field.ts";
import { ChunkId, DocumentId, FolderId, SpaceId } from "../ids.ts";
import { NOT_BLANK } from "../requests/patterns.ts";
import { missing } from "../requests/problem.ts";
import { documentFilters, FileType } from "./document.ts";
import { Locations } from "../location.ts";
import { ChunkEnd, ChunkIndex, ChunkMetadata, ChunkStart, ChunkText, PageEnd, PageStart } from "./text.ts";

const MAX_QUERY_CHARACTERS = 8_192;
const MAX_HITS = 100;
const DEFAULT_HITS = 10;
const MAX_IDS = 1_000;
const MAX_NEIGHBOURS = 3;
const MAX_SPACES = 20;

/** How many neighbours the hits of a search bring. */
export const neighbourCount = () =>
  z.int().min(0).max(MAX_NEIGHBOURS).default(0).meta({
    description: "How many chunks on either side each result brings as its `context`",
    example: 0,
  });

export const HybridSearch = z
  .strictObject({
    query: z
      .string()
      .min(1)
      .max(MAX_QUERY_CHARACTERS)
      .refine((text) => text.trim() !== "", "must not be blank")
      .meta({
        description: "What is looked for, in natural language; not blank",
        pattern: NOT_BLANK,
        example: "How did revenue develop?",
      }),
    space_id: SpaceId.nullish().describe("The space to search. Either this or `space_ids` is needed"),
    space_ids: z
      .array(SpaceId)
      .min(1)
      .max(MAX_SPACES)
      .nullish()
      .describe(
        "The spaces to search at once, in one ranking: each hit has the score that it has in its space " +
          "alone. One out of reach is as an empty one",
      ),
    document_id: DocumentId.nullish().describe("Narrows to this document; the same as `document_ids` of one"),
    document_ids: z
      .array(DocumentId)
      .max(MAX_IDS)
      .nullish()
      .describe("Narrows to these documents; an empty list narrows to nothing, null does not narrow"),
    folder_id: FolderId.nullish().describe(
      "Narrows to this folder and all folders below; the same as `folder_ids` of one",
    ),
    folder_ids: z
      .array(FolderId)
      .max(MAX_IDS)
      .nullish()
      .describe(
        "Narrows to these folders and all folders below; an empty list narrows to nothing, null does not narrow",
      ),
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
    rerank: z
      .union([z.boolean(), z.literal("model")], "must be true, false or model")
      .default(true)
      .meta({
        description:
          "False leaves the service's reranker out, if it has one: results are in the order of `score`. " +
          "`model` has the instance's chat model put the best 20 in order, which costs tokens and counts as a " +
          "chat turn too; if it cannot, results are in the order of `score` and a `Warning` says so",
        example: true,
      }),
    context: neighbourCount(),
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
  .meta({
    id: "HybridSearch",
    example: {
      query: "How did revenue develop?",
      space_id: "01900000-0000-7000-8000-000000000010",
      filters: { file_type__exact: "PDF" },
      limit: 5,
    },
  });

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** Checks of several fields are made whatever else is wrong, so that all problems are named at once. */
function isObject({ value }: { readonly value: unknown }): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const share = z.number().min(0).max(1).nullable();

/** A place in a text: `[start, end)`. */
const Highlight = z.array(z.int().min(0)).min(2).max(2);

const HitMetadata = ChunkMetadata.extend({
  page_start: PageStart,
  page_end: PageEnd,
  highlights: z.array(Highlight).meta({
    description:
      "Where words of the query are in `text`: `[start, end)` of each, as offsets in UTF-16 code units, which " +
      "is how JavaScript, Java and C# count. In Python, cut `text.encode('utf-16-le')` at twice the offsets",
    example: [[0, 7]],
  }),
  rerank_score: z
    .number()
    .optional()
    .meta({
      description:
        "The reranker's score; with `rerank: model` 1 divided by the place that the model gives the hit. Absent: " +
        "the service has no reranker, it was left out, or it did not judge this hit",
      example: 0.87,
    }),
}).meta({ id: "HitMetadata", description: "What is known of a hit's chunk; later versions may add fields" });

const Neighbour = z
  .object({ chunk_id: ChunkId, chunk_index: ChunkIndex, text: ChunkText })
  .meta({ id: "SearchNeighbour" });
const neighbours = (side: string) =>
  z.array(Neighbour).describe(`The chunks ${side} it, in the order of the document`);

/** What stands beside a hit. */
export const HitContext = z
  .object({ before: neighbours("before"), after: neighbours("after") })
  .optional()
  .meta({
    id: "HitContext",
    description:
      "The chunks beside it in its version of the document; fewer at its beginning and end, and beyond 1,000,000 " +
      "characters of all results together. Absent: not asked for, or the version was replaced meanwhile",
  });

const SearchHit = z
  .object({
    chunk_id: ChunkId,
    document_id: DocumentId,
    space_id: SpaceId,
    document_name: field.text("The document's file name", "report.pdf"),
    file_type: FileType,
    folder_path: field.nullableText(
      "Folder names from the root, joined by `/`; null at the root",
      "Reports/2026",
    ),
    chunk_index: ChunkIndex,
    score: z.number().min(0).max(1).meta({
      description: "`dense_score` + `sparse_score`; scores of several searches can be compared",
      example: 0.61,
    }),
    dense_score: share.meta({
      description: "The share of vector search; null without a vector",
      example: 0.4,
    }),
    sparse_score: share.meta({
      description: "The share of BM25; null if the chunk and its headings have no query term",
      example: 0.21,
    }),
    text: ChunkText,
    start: ChunkStart,
    end: ChunkEnd,
    locations: Locations,
    metadata: HitMetadata,
    context: HitContext,
  })
  .meta({ id: "SearchHit" });

export const SearchResults = z
  .object({
    query: field.text("The query as it was sent", "How did revenue develop?"),
    space_id: SpaceId.nullable().describe("The space that was searched; null with `space_ids`"),
    space_ids: z
      .array(SpaceId)
      .optional()
      .describe("The spaces that were asked for, of a request with `space_ids`"),
    total_results: field.integer("Number of results in this answer", 1),
    results: z
      .array(SearchHit)
      .describe(
        "Highest score first; where the service has a reranker or the request names the model as one, in its " +
          "order, with its score as metadata.rerank_score",
      ),
  })
  .meta({ id: "SearchResults" });
