/** The tools that read: search, spaces, documents and their text. */
import { readTextPart } from "../../../queries/documents/read-text-part.ts";
import {
  ListDocumentsInput,
  ListDocumentsOutput,
  ListSpacesInput,
  ListSpacesOutput,
  ReadDocumentInput,
  ReadDocumentOutput,
  SearchInput,
  SearchOutput,
} from "../../../schema/mcp/tools.ts";
import { searchDocuments } from "../../routes/documents/hybrid-search.ts";
import { listDocuments } from "../../routes/documents/search.ts";
import { searchForSpaces } from "../../routes/spaces/spaces.ts";
import { auditedIfRefused, callRoute, type McpCall } from "../call.ts";
import { nextCursor, placeOf } from "../cursors.ts";
import { RPC_CODES, RpcError } from "../rpc-error.ts";
import { documentUri } from "../uris.ts";
import { presentDocument } from "./document.ts";
import { defineTool, READS } from "./tool.ts";

/** What one search takes. */
const MAX_SPACES = 20;

const partWarning = (count: number): string =>
  `Searched ${MAX_SPACES} of the ${count} spaces the caller can access: pass the others as space_ids`;

export const searchTool = defineTool({
  name: "search",
  title: "Search documents",
  description:
    "Searches the text of the documents that the caller may read, by meaning and by words, and returns " +
    "passages with their document, score and place. Ask for what the passages would say.",
  capability: "search",
  hints: READS,
  input: SearchInput,
  output: SearchOutput,
  async run(call, { space_ids: spaceIds, ...search }) {
    const { reach } = call.principal;
    const spaces = spaceIds ?? [...reach.keys()].slice(0, MAX_SPACES);
    const isPart = spaceIds === undefined && reach.size > MAX_SPACES;
    if (spaces.length === 0) return { total_results: 0, results: [] };
    const { answer, warning } = await callRoute(searchDocuments, call, {
      body: { ...search, space_ids: spaces },
    });
    const { total_results, results } = answer;
    call.shown(results.map((hit) => hit.document_id));
    return {
      total_results,
      results: results.map((hit) => ({
        ...hit,
        uri: documentUri({ spaceId: hit.space_id, documentId: hit.document_id }),
      })),
      warning: isPart ? partWarning(reach.size) : warning,
    };
  },
});

export const listSpacesTool = defineTool({
  name: "list_spaces",
  title: "List spaces",
  description: "Lists the spaces that the caller reaches, with the caller's role in each.",
  capability: "read",
  hints: READS,
  input: ListSpacesInput,
  output: ListSpacesOutput,
  async run(call, { limit, cursor }) {
    const page = placeOf("spaces", cursor);
    const { answer } = await callRoute(searchForSpaces, call, { query: { page, limit }, body: {} });
    const { items, total_items: total } = answer;
    return {
      spaces: items.map((space) => ({ ...space, role: call.principal.reach.get(space.id)!.role })),
      total,
      next_cursor: nextCursor("spaces", { page, limit, total }),
    };
  },
});

interface DocumentsWanted {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly filters?: Readonly<Record<string, unknown>>;
}

/** A page of the documents that the caller reaches, newest first. */
export async function pageOfDocuments(call: McpCall, { limit, cursor, filters = {} }: DocumentsWanted) {
  const page = placeOf("documents", cursor);
  const { answer } = await callRoute(listDocuments, call, { query: { page, limit }, body: { filters } });
  const { items, total_items: total } = answer;
  call.shown(items.map(({ id }) => id));
  return { documents: items, total, next_cursor: nextCursor("documents", { page, limit, total }) };
}

export const listDocumentsTool = defineTool({
  name: "list_documents",
  title: "List documents",
  description:
    "Lists the documents that the caller may read, newest first, with the state of their processing. " +
    "To look into their text, use search.",
  capability: "read",
  hints: READS,
  input: ListDocumentsInput,
  output: ListDocumentsOutput,
  async run(call, { space_id, folder_id, name_contains, limit, cursor }) {
    const filters = {
      ...(space_id === undefined ? {} : { space_id__exact: space_id }),
      ...(folder_id === undefined ? {} : { folder_id__exact: folder_id }),
      ...(name_contains === undefined ? {} : { "doc_metadata.original_filename__icontains": name_contains }),
    };
    const { documents, ...rest } = await pageOfDocuments(call, { limit, cursor, filters });
    return { documents: documents.map(presentDocument), ...rest };
  },
});

interface TextWanted {
  readonly documentId: string;
  readonly cursor?: string | undefined;
  readonly maxCharacters: number;
}

/** A part of a document's text, and the cursor of the next one, which is good for the same version alone. */
export async function partOfText(call: McpCall, { documentId, cursor, maxCharacters }: TextWanted) {
  const [version, unit] = cursor === undefined ? [] : placesOf(cursor);
  call.shown([documentId]);
  const asked = { action: "documents:read", resource: "document", id: documentId };
  const part = await auditedIfRefused(call, asked, () =>
    readTextPart(call.deps.db, call.principal, {
      documentId,
      from: unit ?? 0,
      maxCharacters,
      opened: call.request.opened,
    }),
  );
  const shown = part.document.version ?? 0;
  if (version !== undefined && version !== shown)
    throw new RpcError(RPC_CODES.invalidParams, "The document has a new version: read it from the beginning");
  return {
    ...part,
    cursor: part.next === null ? undefined : Buffer.from(`text:${shown}:${part.next}`).toString("base64url"),
  };
}

function placesOf(cursor: string): [number, number] {
  const match = /^text:(\d{1,9}):(\d{1,9})$/.exec(Buffer.from(cursor, "base64url").toString("latin1"));
  if (match === null) throw new RpcError(RPC_CODES.invalidParams, "Invalid cursor");
  return [Number(match[1]), Number(match[2])];
}

export const readDocumentTool = defineTool({
  name: "read_document",
  title: "Read a document",
  description:
    "Returns the text of a document as Markdown, from its beginning, in parts: `next_cursor` " +
    "asks for the next.",
  capability: "read",
  hints: READS,
  input: ReadDocumentInput,
  output: ReadDocumentOutput,
  async run(call, { document_id: documentId, cursor, max_characters: maxCharacters }) {
    const part = await partOfText(call, { documentId, cursor, maxCharacters });
    return { document: presentDocument(part.document), text: part.text, next_cursor: part.cursor };
  },
});
