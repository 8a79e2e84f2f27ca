/** Contract of documents: their fields, processing state, text and chunks. Runs and batches are in run.ts. */
import { z } from "zod";
import { FILE_TYPES } from "../../domain/file-type.ts";
import { RUN_STATUSES } from "../../domain/work/processing.ts";
import { UNIT_TYPES } from "../../domain/text-unit.ts";
import {
  envelope,
  FilePart,
  pageQuery,
  PARTS_PER_PAGE,
  RESOURCES_PER_PAGE,
  Timestamp,
  Uuid,
} from "../fields.ts";
import { type FilterFields, filtersOf, orderByOf } from "../requests/filters.ts";
import { record } from "../requests/record.ts";

export const RunError = z
  .object({
    stage: z.string().meta({ example: "parsing" }),
    code: z.string().meta({
      description:
        "empty_file, unsupported_file_type, encrypted, corrupt, too_large, timeout, out_of_memory, " +
        "too_complex, no_text, rejected_by_provider, worker_crashed, superseded, cancelled, internal",
      example: "encrypted",
    }),
    message: z.string().meta({ example: "The file is encrypted." }),
  })
  .meta({ id: "RunError" });

export const WaitingFor = z
  .object({
    code: z.string().meta({
      description:
        "What is down or busy: provider_rate_limited, provider_timeout, provider_unavailable, " +
        "storage_unavailable, insufficient_storage, database_unavailable, workflows_unavailable, " +
        "internal",
      example: "provider_unavailable",
    }),
    since: Timestamp,
    attempts: z.int().meta({ description: "Attempts in a row that met it", example: 3 }),
    next_attempt_at: Timestamp.nullish(),
  })
  .meta({
    id: "WaitingFor",
    description: "It goes on by itself once that is over; nothing needs to be sent again",
  });

const Warnings = z.array(z.record(z.string(), z.unknown())).meta({
  example: [{ code: "not_embedded", chunk_index: 7 }],
  description:
    "Parts that were left out of a document that is otherwise whole. `not_embedded`: the embedding " +
    "provider refuses the text of this chunk, which is found by its words alone; the first hundred are " +
    "named, and processing the document again tries them again",
});

/** Right after the upload only the three flags are there; the other fields follow as the run proceeds. */
const ProcessingState = z
  .object({
    parsed: z.boolean().meta({ description: "True once text is extracted" }),
    chunked: z.boolean().meta({ description: "True once text is split into chunks" }),
    embedded: z
      .boolean()
      .meta({ description: "True once embeddings are computed, but for texts that the provider refuses" }),
    searchable: z.boolean().optional().meta({
      description:
        "True if a published version answers searches and chats, whatever a newer run of the document does",
    }),
    pipeline_run_id: Uuid.optional().meta({ description: "The latest run, whose state this is" }),
    pipeline_status: z.enum(RUN_STATUSES).optional().meta({
      description: "Where the latest run is; `completed`, `failed` and `cancelled` are its ends",
      example: "completed",
    }),
    chunk_count: z.int().nullish().meta({ example: 12 }),
    embedding_model: z.string().nullish().meta({ example: "all-MiniLM-L6-v2" }),
    embedded_chunk_count: z.int().nullish().meta({
      description: "Below `chunk_count` by the chunks whose text the embedding provider refuses",
      example: 12,
    }),
    parser_name: z.string().nullish().meta({ example: "markdown" }),
    chunker_name: z.string().nullish().meta({ example: "page_based" }),
    progress: z.number().min(0).max(1).optional().meta({ example: 1 }),
    waiting_for: WaitingFor.optional(),
    error: RunError.nullish(),
    warnings: Warnings.optional(),
  })
  .meta({ id: "ProcessingState" });

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

const READ_ONLY_METADATA = ["original_filename", "content_type"];
export const MAX_METADATA_CHARACTERS = 65_536;
/** No more keys fit into {@link MAX_METADATA_CHARACTERS}. */
const MAX_METADATA_KEYS = 10_000;
const MAX_TAGS = 100;
const MAX_TAG_CHARACTERS = 256;

/** What callers may write of a document's metadata. */
const ownMetadata = () =>
  record(z.unknown(), MAX_METADATA_KEYS).superRefine((metadata, context) => {
    for (const key of READ_ONLY_METADATA.filter((name) => Object.hasOwn(metadata, name)))
      context.addIssue({ code: "custom", path: [key], message: `${key} is read-only` });
    if (JSON.stringify(metadata).length > MAX_METADATA_CHARACTERS)
      context.addIssue({
        code: "custom",
        message: `must have at most ${MAX_METADATA_CHARACTERS} characters as JSON`,
      });
  });

/**
 * The form of `POST /data/upload`. `api/body/uploads.ts` streams its file, `api/body/form.ts` checks its
 * fields.
 */
export const DocumentUpload = z
  .object({
    file: FilePart,
    space_id: Uuid.meta({ description: "The space that the document belongs to" }),
    folder_id: Uuid.optional().meta({
      description: "A folder of the space; without it the document is at the root",
    }),
    doc_metadata: ownMetadata()
      .optional()
      .meta({
        description:
          "The document's own metadata, as JSON text: what `PATCH` takes, and what filters find as " +
          "`doc_metadata.<key>`",
        example: { project: "apollo" },
      }),
    tags: z
      .array(z.string().min(1).max(MAX_TAG_CHARACTERS))
      .max(MAX_TAGS)
      .optional()
      .meta({
        description:
          "Becomes `doc_metadata.tags`. The field may come more than once, or hold a JSON list; the filter " +
          "`doc_metadata.tags__contains` finds one of them",
        example: ["invoice", "2026"],
      }),
    strict: z
      .stringbool()
      .optional()
      .meta({
        override: { type: "boolean" },
        description:
          "True refuses a file that no parser will read, by its name and first bytes, and an empty one. " +
          "Otherwise such a document is accepted, and its run fails with the reason",
        example: true,
      }),
  })
  .refine((form) => form.tags === undefined || form.doc_metadata?.["tags"] === undefined, {
    path: ["tags"],
    message: "tags and doc_metadata.tags exclude each other",
  })
  .meta({ id: "DocumentUpload" });

export const DocumentPatch = z
  .object({
    doc_metadata: ownMetadata()
      .optional()
      .meta({
        description: "JSON merge patch (RFC 7396): null removes a key",
        example: { project: "apollo", draft: null },
      }),
    folder_id: Uuid.nullable().optional().meta({ description: "Null moves the document to the root" }),
  })
  .meta({ id: "DocumentPatch" });

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
