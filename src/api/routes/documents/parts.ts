/** GET /data/{document_id}/text, /chunks and /versions. */
import { Readable } from "node:stream";
import { z } from "zod";
import { authorize } from "../../../auth/policy.ts";
import { findDocument } from "../../../db/documents/read.ts";
import { countChunks, countUnits, readChunks, readUnits } from "../../../db/documents/text.ts";
import { listRuns } from "../../../db/runs/read.ts";
import { type TextUnit, unitsAsMarkdown } from "../../../domain/text-unit.ts";
import { readParts } from "../../../queries/documents/read-parts.ts";
import { pageOf } from "../../../schema/fields.ts";
import {
  ChunkPage,
  ChunksQuery,
  PartsQuery,
  TextQuery,
  TextUnitPage,
} from "../../../schema/documents/text.ts";
import { VersionPage } from "../../../schema/documents/run.ts";
import type { Parts } from "../../json-answer.ts";
import { raw } from "../../response.ts";
import { defineRoute } from "../../route.ts";
import { NOT_KEPT } from "./not-kept.ts";

const MARKDOWN = "text/markdown; charset=utf-8";

const getText = defineRoute("GET /data/:document_id/text", {
  operation: "documents.text",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "document" },
  summary: "The extracted text, in units or as one Markdown text.",
  description:
    "For everybody with a role in its space. The text of the published version; before the first one is " +
    "published, of the run under way as soon as it is parsed.",
  query: TextQuery,
  response: TextUnitPage,
  otherContent: {
    "text/markdown": {
      schema: z.string().meta({ example: "# Results\n\nRevenue grew by 12 percent." }),
      description: "The whole text, where `format` is `markdown`",
    },
  },
  async handle({ deps, principal, params, query, request: { opened } }) {
    const isWhole = query.format === "markdown";
    const { parts, total } = await readParts(
      { db: deps.db, principal, documentId: params.document_id, page: isWhole ? null : query, opened },
      { count: countUnits, read: readUnits },
    );
    return isWhole
      ? raw({ contentType: MARKDOWN, body: Readable.from(markdownPieces(parts)) })
      : pageOf({ items: parts, total }, query);
  },
});

async function* markdownPieces(parts: Parts<TextUnit>): AsyncGenerator<string> {
  let separator = "";
  for await (const units of parts) {
    yield separator + unitsAsMarkdown(units);
    separator = "\n\n";
  }
}

const listChunks = defineRoute("GET /data/:document_id/chunks", {
  operation: "documents.chunks",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "document" },
  summary: "The chunks of a document with what is known of their embeddings.",
  description:
    "For everybody with a role in its space. The chunks of the published version; before the first one " +
    "is published, of the run under way as soon as it is chunked. Chunks are what search finds and " +
    "agents cite. With `version` those of another one: the published version, the one before it and that of " +
    "the latest run are kept; older ones are 410.",
  query: ChunksQuery,
  errors: [410],
  ownErrors: NOT_KEPT,
  response: ChunkPage,
  async handle({ deps, principal, params, query, request: { opened } }) {
    const { document_id: documentId } = params;
    const { parts, total } = await readParts(
      { db: deps.db, principal, documentId, version: query.version, page: query, opened },
      { count: countChunks, read: readChunks },
    );
    return pageOf({ items: parts, total }, query);
  },
});

const listVersions = defineRoute("GET /data/:document_id/versions", {
  operation: "documents.versions",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "document" },
  summary: "Every run of a document, newest first: what it is made of, and how it ended.",
  description:
    "For everybody with a role in its space. Each run makes a version: the upload the first, each " +
    "reprocessing, replacement and restoring one more. The version that search serves has `is_current`.",
  query: PartsQuery,
  response: VersionPage,
  async handle({ principal, read, params, query }) {
    const { items, total } = await read(async (sql) => {
      const document = await findDocument(sql, principal, params.document_id);
      authorize(principal, "documents:read", document);
      return listRuns(sql, principal, document.id, query);
    });
    return pageOf({ items, total }, query);
  },
});

export const documentPartRoutes = [getText, listChunks, listVersions];
