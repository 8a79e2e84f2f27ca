/**
 * The contract of the tools that `/mcp` offers: what each takes and gives. Answers are read by models, so
 * they hold less than those of the matching routes.
 */
import { z } from "zod";
import { field } from "../field.ts";
import { ownMetadata, tagList } from "../documents/changes.ts";
import { FileType } from "../documents/document.ts";
import { RESOURCES_PER_PAGE } from "../fields.ts";
import { AgentId, ChunkId, DocumentId, FolderId, RunId, SpaceId } from "../ids.ts";
import { HitContext, neighbourCount } from "../documents/search.ts";
import { Locations } from "../location.ts";
import { withFewKeys } from "../requests/record.ts";

const MAX_QUERY_CHARACTERS = 8_192;
const MAX_QUESTION_CHARACTERS = 100_000;
const MAX_HITS = 50;
const MAX_FILTERS = 50;
/** Base64 makes a third more of it; both fit a JSON body. */
const MAX_CONTENT_CHARACTERS = 4_000_000;
const MAX_CURSOR_CHARACTERS = 128;
const MAX_WAIT_SECONDS = 60;

const Uri = field.text(
  "The document as a resource",
  "holdfast://spaces/01900000-0000-7000-8000-000000000010/documents/01900000-0000-7000-8000-000000000030",
);
const Cursor = z
  .string()
  .max(MAX_CURSOR_CHARACTERS)
  .optional()
  .describe("The `next_cursor` of the answer before; absent: from the beginning");
const NextCursor = z.string().optional().describe("Absent: there is nothing more");
const Limit = z
  .int()
  .min(1)
  .max(RESOURCES_PER_PAGE.max)
  .default(RESOURCES_PER_PAGE.default)
  .describe("The most entries");
const Total = z.int().describe("How many there are on all pages");
const Wait = z
  .int()
  .min(0)
  .max(MAX_WAIT_SECONDS)
  .default(0)
  .describe("Seconds to wait for the end of its processing; 0: the answer comes at once");
const FileName = field.text("The file's name", "report.pdf");
const Status = field.optionalText(
  "Where its latest processing is: `completed`, `failed` and `cancelled` are its ends",
  "completed",
);

const ProcessingError = z.string().optional().describe("Why the latest processing failed");

export const SearchInput = z.strictObject({
  query: z.string().min(1).max(MAX_QUERY_CHARACTERS).describe("What is looked for, in natural language"),
  space_ids: z
    .array(SpaceId)
    .min(1)
    .max(20)
    .optional()
    .describe("The spaces to search; absent: all that the caller reaches, at most 20"),
  folder_id: FolderId.optional().describe("Narrows to this folder and those below"),
  document_ids: z.array(DocumentId).max(100).optional().describe("Narrows to these documents"),
  filters: withFewKeys(z.record(z.string(), z.unknown()), MAX_FILTERS)
    .optional()
    .describe("Conditions on fields of documents, such as `file_type__exact` or `doc_metadata.year__gte`"),
  limit: z.int().min(1).max(MAX_HITS).default(10).describe("The most results"),
  min_score: z.number().min(0).max(1).optional().describe("Leaves out lower scores"),
  context: neighbourCount(),
});

export const SearchOutput = z.object({
  total_results: z.int().describe("How many results this answer has"),
  results: z.array(
    z.object({
      document_id: DocumentId,
      document_name: FileName,
      space_id: SpaceId,
      chunk_id: ChunkId,
      chunk_index: z.int().describe("Which chunk of the document it is, from 0"),
      score: z.number().describe("0 to 1"),
      dense_score: z.number().nullable().describe("The share of vector search"),
      sparse_score: z.number().nullable().describe("The share of the words"),
      text: z.string().describe("What was found"),
      locations: Locations,
      context: HitContext,
      uri: Uri,
    }),
  ),
  warning: z.string().optional().describe("What was left out of the ranking"),
});

export const ListSpacesInput = z.strictObject({ limit: Limit, cursor: Cursor });
export const ListSpacesOutput = z.object({
  spaces: z.array(
    z.object({
      id: SpaceId,
      name: z.string().describe("Two spaces may have the same"),
      is_private: z.boolean().describe("Whether nobody else reaches it"),
      role: z.enum(["owner", "editor", "viewer"]).describe("The caller's"),
    }),
  ),
  total: Total,
  next_cursor: NextCursor,
});

const McpDocument = z.object({
  id: DocumentId,
  name: FileName,
  space_id: SpaceId,
  folder_path: z.string().nullable().describe("Null: the space's root"),
  file_type: FileType,
  file_size: z.int().describe("Bytes"),
  created_at: z.string().describe("ISO 8601"),
  version: z.int().nullable().describe("The published version; null: none yet"),
  status: Status,
  error: ProcessingError,
  uri: Uri,
});

export const ListDocumentsInput = z.strictObject({
  space_id: SpaceId.optional().describe("Only of this space"),
  folder_id: FolderId.optional().describe("Only of this folder, not of those below"),
  name_contains: z.string().min(1).max(255).optional().describe("Only with this in the name"),
  limit: Limit,
  cursor: Cursor,
});
export const ListDocumentsOutput = z.object({
  documents: z.array(McpDocument),
  total: Total,
  next_cursor: NextCursor,
});

export const ReadDocumentInput = z.strictObject({
  document_id: DocumentId,
  cursor: Cursor,
  max_characters: z
    .int()
    .min(1_000)
    .max(100_000)
    .default(20_000)
    .describe("About how much text one answer has at most; the rest follows by `next_cursor`"),
});
export const ReadDocumentOutput = z.object({
  document: McpDocument,
  text: z.string().describe("Markdown"),
  next_cursor: NextCursor,
});

export const ListAgentsInput = z.strictObject({ limit: Limit, cursor: Cursor });
export const ListAgentsOutput = z.object({
  agents: z.array(
    z.object({
      id: AgentId.describe("What `ask_agent` takes as `agent_id`"),
      name: z.string().describe("Two agents may have the same"),
      description: z.string().optional().describe("What it is for; absent without the capability `read`"),
    }),
  ),
  total: Total,
  next_cursor: NextCursor,
});

export const AskAgentInput = z.strictObject({
  agent_id: z
    .guid({ error: "is not the id of an agent: list_agents has them" })
    .toLowerCase()
    .describe("Whom to ask: `list_agents` has the ids"),
  question: z.string().min(1).max(MAX_QUESTION_CHARACTERS).describe("In natural language"),
});
export const AskAgentOutput = z.object({
  answer: z.string().describe("Marks like [1] cite the source with that index"),
  finish_reason: z.string().describe("`stop`: the answer is whole"),
  citations: z.array(
    z.object({
      index: z.int().describe("The n of the mark [n]"),
      document_id: DocumentId,
      document_name: FileName,
      chunk_id: ChunkId,
      page: z.int().nullable().describe("From 1; null: the format has none"),
      quote: z.string().optional().describe("The words that support the statement"),
      support: z.string().optional().describe("`strong` or `weak`"),
      receipt: z.string().optional().describe("Proves the quote; `/v1/receipts/verify` checks it"),
      locations: Locations,
    }),
  ),
  usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() }),
});

export const UploadDocumentInput = z
  .strictObject({
    space_id: SpaceId,
    folder_id: FolderId.optional().describe("Absent: the space's root"),
    name: z.string().min(1).max(255).describe("The file's name with its ending"),
    content: z.string().max(MAX_CONTENT_CHARACTERS).describe("The file, as `encoding` says"),
    encoding: z
      .enum(["text", "base64"])
      .default("text")
      .describe("`text`: as it is, in UTF-8; `base64`: bytes"),
    metadata: ownMetadata()
      .optional()
      .describe("The document's own, which `filters` of search find as `doc_metadata.<key>`"),
    tags: tagList()
      .optional()
      .describe("Become `doc_metadata.tags`; the filter `doc_metadata.tags__contains` finds one of them"),
    wait_seconds: Wait,
  })
  .refine(({ tags, metadata }) => tags === undefined || metadata?.["tags"] === undefined, {
    path: ["tags"],
    message: "tags and metadata.tags exclude each other",
  });
export const ReprocessDocumentInput = z.strictObject({ document_id: DocumentId, wait_seconds: Wait });
export const DocumentOutput = z.object({ document: McpDocument });
export const ReprocessOutput = z.object({
  document_id: DocumentId,
  run_id: RunId,
  status: z.string().describe("`queued`, or how it ended if it was waited for"),
  error: ProcessingError,
});

export const DeleteDocumentInput = z.strictObject({ document_id: DocumentId });
export const DeleteDocumentOutput = z.object({
  document_id: DocumentId,
  deleted: z.literal(true).describe("Its record, chunks and search entries are gone"),
});
