/** Documents as resources of the protocol: lists, templates, their text in parts, and subscriptions. */
import { authorize } from "../../auth/policy.ts";
import { subscribeMcpSession, unsubscribeMcpSession } from "../../db/mcp/sessions.ts";
import { findDocument } from "../../db/documents/read.ts";
import { readTenant } from "../../db/pool.ts";
import { notFound } from "../../domain/not-found.ts";
import { audited, type McpCall, noteRefusal } from "./call.ts";
import { RPC_CODES, RpcError } from "./rpc-error.ts";
import { documentName } from "./tools/document.ts";
import { pageOfDocuments, partOfText } from "./tools/reading.ts";
import { addressOf, DOCUMENT_TEMPLATE, type DocumentAddress, documentUri, PART_TEMPLATE } from "./uris.ts";

const PAGE = 50;
/** About how much text one answer has. */
const PART_CHARACTERS = 60_000;
const MARKDOWN = "text/markdown";

export async function listResources(call: McpCall, cursor: string | undefined) {
  const { documents, next_cursor: nextCursor } = await pageOfDocuments(call, { limit: PAGE, cursor });
  return {
    resources: documents.map((document) => ({
      uri: documentUri({ spaceId: document.space_id, documentId: document.id }),
      name: documentName(document),
      title: documentName(document),
      mimeType: MARKDOWN,
      annotations: { lastModified: document.updated_at },
    })),
    nextCursor,
  };
}

export function listTemplates() {
  return {
    resourceTemplates: [
      {
        uriTemplate: DOCUMENT_TEMPLATE,
        name: "document",
        title: "The text of a document",
        description: "As Markdown, its first part; `_meta` of the answer names the next one",
        mimeType: MARKDOWN,
      },
      {
        uriTemplate: PART_TEMPLATE,
        name: "document-part",
        title: "A further part of a document's text",
        description: "From the place on that a read before named",
        mimeType: MARKDOWN,
      },
    ],
  };
}

/** An address of another form is refused as one that names nothing, and is a row like it. */
function requireAddress(call: McpCall, uri: string): DocumentAddress {
  const address = addressOf(uri);
  if (address !== undefined) return address;
  noteRefusal(call, { action: "documents:read", resource: "document", id: null }, notFound("document"));
  throw new RpcError(RPC_CODES.resourceNotFound, "Resource not found");
}

export async function readResource(call: McpCall, uri: string) {
  const address = requireAddress(call, uri);
  const { documentId, spaceId, cursor } = address;
  const part = await partOfText(call, { documentId, cursor, maxCharacters: PART_CHARACTERS });
  if (part.document.space_id !== spaceId) throw notFound("document");
  const next = part.cursor === undefined ? undefined : documentUri({ ...address, cursor: part.cursor });
  return {
    contents: [
      {
        uri,
        mimeType: MARKDOWN,
        text: part.text,
        ...(next === undefined ? {} : { _meta: { "holdfast/next": next } }),
      },
    ],
    ...(next === undefined ? {} : { _meta: { "holdfast/next": next } }),
  };
}

export async function subscribe(call: McpCall, uri: string) {
  const { spaceId, documentId } = requireAddress(call, uri);
  const { deps, principal, session } = call;
  await audited(call, { action: "documents:read", resource: "document", id: documentId }, async () => {
    const found = await readTenant(deps.db, principal.organization, (sql) =>
      findDocument(sql, principal, documentId),
    );
    authorize(principal, "documents:read", found);
    if (found.space_id !== spaceId) throw notFound("document");
  });
  const canonical = documentUri({ spaceId, documentId });
  if (!(await subscribeMcpSession(deps.db, principal.organization, session!.id, canonical)))
    throw new RpcError(RPC_CODES.refused, "Too many subscriptions of this session: at most 100");
  return {};
}

export async function unsubscribe(call: McpCall, uri: string) {
  const { deps, principal, session } = call;
  const canonical = documentUri(requireAddress(call, uri));
  await unsubscribeMcpSession(deps.db, principal.organization, session!.id, canonical);
  return {};
}
