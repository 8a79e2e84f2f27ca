/** GET /data/{document_id}/text, /chunks and /versions. */
import { Readable } from "node:stream";
import { z } from "zod";
import { authorize } from "../../../auth/policy.ts";
import { findDocument } from "../../../db/documents/read.ts";
import type { PageRequest } from "../../../db/page.ts";
import { type Database, inTenant, type Sql } from "../../../db/pool.ts";
import { listRuns } from "../../../db/runs/read.ts";
import { countChunks, countUnits, readChunks, readUnits, shownRunNum } from "../../../db/documents/text.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import { type TextUnit, unitsAsMarkdown } from "../../../domain/text-unit.ts";
import { DocumentParams, pageOf } from "../../../schema/common.ts";
import { ChunkPage, PartsQuery, TextQuery, TextUnitPage } from "../../../schema/documents/document.ts";
import { VersionPage } from "../../../schema/documents/run.ts";
import type { Parts } from "../../json-answer.ts";
import { raw } from "../../response.ts";
import { defineRoute } from "../../route.ts";

const MARKDOWN = "text/markdown; charset=utf-8";
/** Of units and chunks, which are up to 64 KB each; the first part of a page is read with its count. */
const FIRST_PART = 100;
const [LEAST_PART, LARGEST_PART] = [10, 2_000] as const;
/** Parts grow and shrink towards it. */
const PART_CHARACTERS = 1_048_576;

/** Reads of the document in one transaction. @throws DomainError `not_found` where the caller does not reach it. */
async function readReached<T>(
  db: Database,
  principal: Principal,
  documentId: string,
  read: (sql: Sql) => Promise<T>,
): Promise<T> {
  return inTenant(db, principal.organization, async (sql) => {
    const document = await findDocument(sql, principal, documentId);
    authorize(principal, "documents:read", document);
    return read(sql);
  });
}

interface Asked {
  readonly db: Database;
  readonly principal: Principal;
  readonly documentId: string;
  /** Null asks for the whole. */
  readonly page: PageRequest | null;
}

/** How the parts of a run's text are counted and read, by its number. */
interface Source<Item> {
  readonly count: (sql: Sql, runNum: number) => Promise<number>;
  readonly read: (sql: Sql, runNum: number, from: number, limit: number) => Promise<Item[]>;
}

/**
 * A page of what the document's shown run is made of, or the whole where `page` is null: the first part at once, the others while the
 * answer is written, each in a transaction of its own, so that a slow client holds no connection and a long page little memory.
 */
async function readParts<Item extends { readonly text: string }>(
  { db, principal, documentId, page }: Asked,
  source: Source<Item>,
): Promise<{ parts: Parts<Item>; total: number }> {
  const begun = await readReached(db, principal, documentId, async (sql) => {
    const runNum = await shownRunNum(sql, documentId);
    const total = runNum === null ? 0 : await source.count(sql, runNum);
    const from = page === null ? 0 : (page.page - 1) * page.limit;
    const until = Math.min(total, page === null ? total : from + page.limit);
    const first =
      runNum === null || from >= until
        ? []
        : await source.read(sql, runNum, from, Math.min(FIRST_PART, until - from));
    return { runNum, total, from, until, first };
  });
  async function* parts(): AsyncGenerator<readonly Item[]> {
    const { runNum, from, until, first } = begun;
    let part = first;
    let size = FIRST_PART;
    for (let at = from; runNum !== null && at < until;) {
      // Where the run was purged meanwhile, so that a part is never taken for the whole.
      if (part.length === 0)
        throw new Error(`what run number ${runNum} is made of ended at ${at} of ${until}`);
      yield part;
      at += part.length;
      const isSmall = part.reduce((sum, { text }) => sum + text.length, 0) < PART_CHARACTERS / 2;
      size = isSmall ? Math.min(LARGEST_PART, size * 2) : Math.max(LEAST_PART, size >> 1);
      const [next, limit] = [at, Math.min(size, until - at)];
      if (limit > 0)
        part = await inTenant(db, principal.organization, (sql) => source.read(sql, runNum, next, limit));
    }
  }
  return { parts: parts(), total: begun.total };
}

const getText = defineRoute({
  method: "GET",
  path: "/data/:document_id/text",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "document" },
  status: 200,
  summary: "The extracted text, in units or as one Markdown text.",
  description:
    "Of the published version; before the first one is published, of the run under way as soon as it is parsed.",
  tags: ["Documents"],
  params: DocumentParams,
  query: TextQuery,
  response: TextUnitPage,
  otherContent: {
    "text/markdown": { schema: z.string(), description: "The whole text, where `format` is `markdown`" },
  },
  async handle({ deps, principal, params, query }) {
    const isWhole = query.format === "markdown";
    const { parts, total } = await readParts(
      { db: deps.db, principal, documentId: params.document_id, page: isWhole ? null : query },
      { count: countUnits, read: readUnits },
    );
    return isWhole
      ? raw({ contentType: MARKDOWN, body: Readable.from(markdownPieces(parts)) })
      : pageOf(parts, total, query);
  },
});

async function* markdownPieces(parts: Parts<TextUnit>): AsyncGenerator<string> {
  let separator = "";
  for await (const units of parts) {
    yield separator + unitsAsMarkdown(units);
    separator = "\n\n";
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
  description:
    "Of the published version; before the first one is published, of the run under way as soon as it is chunked.",
  tags: ["Documents"],
  params: DocumentParams,
  query: PartsQuery,
  response: ChunkPage,
  async handle({ deps, principal, params, query }) {
    const { parts, total } = await readParts(
      { db: deps.db, principal, documentId: params.document_id, page: query },
      { count: countChunks, read: readChunks },
    );
    return pageOf(parts, total, query);
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
    const { items, total } = await readReached(deps.db, principal, params.document_id, (sql) =>
      listRuns(sql, principal, params.document_id, query),
    );
    return pageOf(items, total, query);
  },
});

export const documentPartRoutes = [getText, listChunks, listVersions];
