/**
 * Contract of documents: their fields. Their text and chunks are in text.ts, their state is in
 * processing-state.ts, uploads and changes are in changes.ts, runs and batches in run.ts.
 */
import { z } from "zod";
import { field } from "../field.ts";
import { FILE_TYPES } from "../../domain/file-type.ts";
import { envelope, pageQuery, RESOURCES_PER_PAGE, Timestamp } from "../fields.ts";
import { DocumentId, FolderId, OrganizationId, SpaceId, UserId } from "../ids.ts";
import { type FilterFields, filtersOf, orderByOf } from "../requests/filters.ts";
import { ProcessingState } from "./processing-state.ts";

const DocumentMetadata = z.record(z.string(), z.unknown()).meta({
  description:
    "`original_filename`, `content_type` and `extracted`, which is what the file says of itself, are the " +
    "service's; everything else is the caller's",
  example: { original_filename: "report.pdf", content_type: "application/pdf" },
});

export const FileType = z.enum(FILE_TYPES).meta({
  description: "What the file is, by its first bytes and its name; `OTHER`: what no parser reads",
  example: "PDF",
});

const State = ProcessingState.describe("How far the latest run is");

export const Document = z
  .object({
    id: DocumentId,
    file_type: FileType,
    file_size: field.integer("Bytes of the original", 48_213),
    file_path: field.text(
      "Where the original is: spaces/<space_id>/documents/<document_id>/original/<filename>",
      "spaces/01900000-0000-7000-8000-000000000010/" +
        "documents/01900000-0000-7000-8000-000000000030/original/report.pdf",
    ),
    doc_metadata: DocumentMetadata,
    processing_state: State,
    space_id: SpaceId,
    organization_id: OrganizationId,
    created_by: UserId.describe("Who uploaded it"),
    created_at: Timestamp,
    updated_at: Timestamp,
    folder_id: FolderId.nullable().describe("The folder that it is in; null: the space's root"),
    folder_path: field.nullableText(
      "Folder names from the root, joined by `/`; null at the root",
      "Reports/2026",
    ),
    version: field.nullableInteger("The published version; null before the first", 1),
  })
  .meta({ id: "Document" });

const MAX_STATUSES = 1_000;

export const DocumentStatusQuestion = z
  .object({
    ids: z
      .array(DocumentId)
      .min(1)
      .max(MAX_STATUSES)
      .describe("Documents, each answered once however often it is named"),
  })
  .meta({ id: "DocumentStatusQuestion" });

export const DocumentStatuses = z
  .object({
    items: z
      .array(
        z
          .object({
            id: DocumentId,
            space_id: SpaceId,
            version: Document.shape.version,
            processing_state: State,
          })
          .meta({ id: "DocumentStatus" }),
      )
      .describe("In the order of `ids`"),
    not_found: z.array(DocumentId).meta({
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
  "processing_state.parser_version": "number",
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
  .strictObject({ filters: documentFilters(), order_by: orderByOf(DOCUMENT_FIELDS, ["-created_at"]) })
  .meta({ id: "DocumentSearch" })
  .nullish()
  .transform((body) => body ?? { filters: [], order_by: [] });
