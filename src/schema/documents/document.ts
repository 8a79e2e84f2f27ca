/**
 * Contract of documents: their fields, text and chunks. Their state is in processing-state.ts, uploads and
 * changes are in changes.ts, runs and batches in run.ts.
 */
import { z } from "zod";
import { FILE_TYPES } from "../../domain/file-type.ts";
import { UNIT_TYPES } from "../../domain/text-unit.ts";
import { envelope, pageQuery, PARTS_PER_PAGE, RESOURCES_PER_PAGE, Timestamp, Uuid } from "../fields.ts";
import { type FilterFields, filtersOf, orderByOf } from "../requests/filters.ts";
import { ProcessingState } from "./processing-state.ts";

const EXAMPLE_ID = "01900000-0000-7000-8000-000000000030";

const DocumentMetadata = z.record(z.string(), z.unknown()).meta({
  description: "`original_filename` and `content_type` are the service's; everything else is the caller's",
  example: { original_filename: "report.pdf", content_type: "application/pdf" },
});

export const Document = z
  .object({
    id: Uuid,
    file_type: z.enum(FILE_TYPES).meta({ example: "PDF" }),
    file_size: z.int().meta({ description: "Bytes", example: 48_213 }),
    file_path: z.string().meta({
      description: "spaces/<space_id>/documents/<document_id>/original/<filename>",
      example:
        "spaces/01900000-0000-7000-8000-000000000010/" +
        "documents/01900000-0000-7000-8000-000000000030/original/report.pdf",
    }),
    doc_metadata: DocumentMetadata,
    processing_state: ProcessingState,
    space_id: Uuid,
    organization_id: Uuid,
    created_by: Uuid,
    created_at: Timestamp,
    updated_at: Timestamp,
    folder_id: Uuid.nullable(),
    folder_path: z
      .string()
      .nullable()
      .meta({ description: "Folder names from the root, joined by `/`", example: "Reports/2026" }),
    version: z
      .int()
      .nullable()
      .meta({ description: "The published version; null before the first", example: 1 }),
  })
  .meta({ id: "Document" });

const MAX_STATUSES = 1_000;

export const DocumentStatusQuestion = z
  .object({
    ids: z
      .array(Uuid)
      .min(1)
      .max(MAX_STATUSES)
      .meta({ description: "Documents, each answered once", example: [EXAMPLE_ID] }),
  })
  .meta({ id: "DocumentStatusQuestion" });

export const DocumentStatuses = z
  .object({
    items: z
      .array(
        z
          .object({
            id: Uuid,
            space_id: Uuid,
            version: Document.shape.version,
            processing_state: ProcessingState,
          })
          .meta({ id: "DocumentStatus" }),
      )
      .meta({ description: "In the order of `ids`" }),
    not_found: z.array(Uuid).meta({
      description: "Those of `ids` that do not exist, were deleted, or are out of reach",
      example: [],
    }),
  })
  .meta({ id: "DocumentStatuses" });

export const DocumentPage = envelope(Document, "DocumentPage");

export const DOCUMENT_FIELDS: FilterFields = {
  id: "uuid",
  space_id: "uuid",
  folder_id: "uuid",
  organization_id: "uuid",
  created_by: "uuid",
  file_type: "text",
  file_size: "number",
  file_path: "text",
  created_at: "timestamp",
  updated_at: "timestamp",
  version: "number",
  "doc_metadata.*": "json",
  "processing_state.parsed": "boolean",
  "processing_state.chunked": "boolean",
  "processing_state.embedded": "boolean",
  "processing_state.searchable": "boolean",
  "processing_state.pipeline_run_id": "uuid",
  "processing_state.pipeline_status": "text",
  "processing_state.waiting_for": "text",
  "processing_state.waiting_for.code": "text",
  "processing_state.waiting_for.since": "timestamp",
  "processing_state.parser_name": "text",
  "processing_state.chunker_name": "text",
  "processing_state.embedding_model": "text",
};

export const DocumentSearchQuery = pageQuery(RESOURCES_PER_PAGE);
export const documentFilters = () =>
  filtersOf(DOCUMENT_FIELDS, {
    space_id__exact: "01900000-0000-7000-8000-000000000010",
    file_type__exact: "PDF",
  });
/** The body is optional; without one, and for `{}`, all documents that the caller reaches are listed. */
export const DocumentSearch = z
  .object({ filters: documentFilters(), order_by: orderByOf(DOCUMENT_FIELDS, ["-created_at"]) })
  .meta({ id: "DocumentSearch" })
  .nullish()
  .transform((body) => body ?? { filters: [], order_by: [] });

const TextUnit = z
  .object({
    index: z.int().meta({ example: 0 }),
    type: z.enum(UNIT_TYPES).meta({ example: "heading" }),
    text: z.string().meta({ description: "Markdown", example: "Results" }),
    page: z.int().nullable().meta({ description: "From 1; null where the format has no pages", example: 1 }),
    heading_path: z
      .array(z.string())
      .meta({ description: "Headings it stands under, outermost first", example: ["Results"] }),
    level: z.int().optional().meta({ description: "Of a heading: 1 to 6", example: 1 }),
    start: z.int().optional().meta({
      description: "Offset of `text` in the whole text as Markdown, in UTF-16 code units",
      example: 2,
    }),
    end: z.int().optional().meta({ example: 9 }),
    repeats: z
      .boolean()
      .optional()
      .meta({ description: "True for a running header or footer: in no chunk", example: true }),
  })
  .meta({ id: "TextUnit" });

export const TextUnitPage = envelope(TextUnit, "TextUnitPage");
export const TextQuery = pageQuery(PARTS_PER_PAGE).extend({
  format: z
    .enum(["json", "markdown"])
    .default("json")
    .meta({ description: "`markdown` answers the whole text as `text/markdown`" }),
});

const Chunk = z
  .object({
    id: Uuid,
    document_id: Uuid,
    chunk_index: z.int().meta({ example: 0 }),
    text: z.string().meta({ example: "Revenue grew by 12 percent." }),
    token_count: z.int().meta({ example: 7 }),
    page_start: z.int().nullable().meta({ example: 1 }),
    page_end: z.int().nullable().meta({ example: 1 }),
    metadata: z.record(z.string(), z.unknown()).meta({
      description: "heading_text, format, word_count and others",
      example: { heading_text: "Results", format: "markdown", word_count: 5 },
    }),
    embedding: z.object({
      model: z.string().nullable().meta({ example: "all-MiniLM-L6-v2" }),
      dimensions: z.int().nullable().meta({ example: 384 }),
      embedded: z.boolean().meta({
        description: "False also for a chunk of a finished document whose text the provider refuses",
      }),
      embedded_at: Timestamp.nullable(),
    }),
  })
  .meta({ id: "Chunk" });

export const ChunkPage = envelope(Chunk, "ChunkPage");
export const PartsQuery = pageQuery(PARTS_PER_PAGE);
