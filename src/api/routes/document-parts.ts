/** GET /data/{document_id}/text, /chunks and /versions. */
import { Readable } from "node:stream";
import { z } from "zod";
import { authorize } from "../../auth/policy.ts";
import { findDocument } from "../../db/documents.ts";
import type { Page } from "../../db/page.ts";
import { type Database, inTenant, type Sql } from "../../db/pool.ts";
import { listRuns } from "../../db/runs.ts";
import { countUnits, readChunks, readUnits, readUnitsFrom, shownRunNum } from "../../db/text-blocks.ts";
import type { Principal } from "../../domain/principal.ts";
import { unitsAsMarkdown } from "../../domain/text-unit.ts";
import { DocumentParams, pageOf } from "../../schema/common.ts";
import { ChunkPage, PartsQuery, TextQuery, TextUnitPage } from "../../schema/document.ts";
import { VersionPage } from "../../schema/run.ts";
import { raw } from "../response.ts";
import { defineRoute } from "../route.ts";

const MARKDOWN = "text/markdown; charset=utf-8";
const NOTHING: Page<never> = { items: [], total: 0 };

/** Reads of the document in one transaction. @throws DomainError `not_found` where the caller does not reach it. */
async function readParts<T>(db: Database, principal: Principal, documentId: string, read: (sql: Sql) => Promise<T>): Promise<T> {
  return inTenant(db, principal.organization, async (sql) => {
    const document = await findDocument(sql, principal, documentId);
    authorize(principal, "documents:read", document);
    return read(sql);
  });
}

const getText = defineRoute({
  method: "GET",
  path: "/data/:document_id/text",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "document" },
  status: 200,
  summary: "The extracted text, in units or as one Markdown text.",
  description: "Of the published version; before the first one is published, of the run under way as soon as it is parsed.",
  tags: ["Documents"],
  params: DocumentParams,
  query: TextQuery,
  response: TextUnitPage,
  otherContent: { "text/markdown": { schema: z.string(), description: "The whole text, where `format` is `markdown`" } },
  async handle({ deps, principal, params, query }) {
    if (query.format === "markdown") {
      const shown = await readParts(deps.db, principal, params.document_id, async (sql) => {
        const runNum = await shownRunNum(sql, params.document_id);
        return runNum === null ? null : { runNum, total: await countUnits(sql, runNum) };
      });
      return raw({ contentType: MARKDOWN, body: shown === null ? "" : Readable.from(markdownPieces(deps.db, principal, shown)) });
    }
    const { items, total } = await readParts(deps.db, principal, params.document_id, async (sql) => {
      const runNum = await shownRunNum(sql, params.document_id);
      return runNum === null ? NOTHING : readUnits(sql, runNum, query);
    });
    return pageOf(items, total, query);
  },
});

/**
 * The whole text, read in bounded parts, each in a transaction of its own: a slow client holds no connection.
 * @throws Error where the run was purged meanwhile, so that a part is never taken for the whole.
 */
async function* markdownPieces(db: Database, principal: Principal, { runNum, total }: { runNum: number; total: number }): AsyncGenerator<string> {
  for (let index = 0; index < total;) {
    const from = index;
    const units = await inTenant(db, principal.organization, (sql) => readUnitsFrom(sql, runNum, from));
    if (units.length === 0) throw new Error(`the text of run number ${runNum} ended at unit ${index} of ${total}`);
    yield (index === 0 ? "" : "\n\n") + unitsAsMarkdown(units);
    index += units.length;
  }
}

const listChunks = defineRoute({
  method: "GET",
  path: "/data/:document_id/chunks",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "document" },
  status: 200,
  summary: "The chunks of a document with what is known of their embeddings.",
  description: "Of the published version; before the first one is published, of the run under way as soon as it is chunked.",
  tags: ["Documents"],
  params: DocumentParams,
  query: PartsQuery,
  response: ChunkPage,
  async handle({ deps, principal, params, query }) {
    const { items, total } = await readParts(deps.db, principal, params.document_id, async (sql) => {
      const runNum = await shownRunNum(sql, params.document_id);
      return runNum === null ? NOTHING : readChunks(sql, runNum, query);
    });
    return pageOf(items, total, query);
  },
});

const listVersions = defineRoute({
  method: "GET",
  path: "/data/:document_id/versions",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "document" },
  status: 200,
  summary: "Every run of a document, newest first: what it is made of, and how it ended.",
  tags: ["Documents"],
  params: DocumentParams,
  query: PartsQuery,
  response: VersionPage,
  async handle({ deps, principal, params, query }) {
    const { items, total } = await readParts(deps.db, principal, params.document_id, (sql) => listRuns(sql, principal, params.document_id, query));
    return pageOf(items, total, query);
  },
});

export const documentPartRoutes = [getText, listChunks, listVersions];
