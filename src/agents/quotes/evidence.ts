/** Checks the quotes of an answer against the published documents, and has receipts made of them. */
import { type CitedChunk, readCitedChunks } from "../../db/documents/cited.ts";
import { type Database, readTenant } from "../../db/pool.ts";
import type { Location } from "../../domain/locations/location.ts";
import { chunkLocations } from "../../domain/locations/of-chunk.ts";
import type { IssuedReceipt, ReceiptSigner, Statement as Vouched } from "../../domain/receipts/statement.ts";
import type { Log } from "../../process/log.ts";
import type { KnowledgeScope } from "../reach.ts";
import type { Citation } from "../sources.ts";
import type { Support } from "./pick.ts";
import type { MarkedQuote } from "./quoter.ts";

/** What stands behind a mark, or behind a citation as a whole. */
export interface Evidence {
  /** The words of the source that carry the statement: exactly as the chunk has them. */
  readonly quote?: string;
  /** UTF-16 offsets [start, end) in the chunk. */
  readonly quote_start?: number;
  readonly quote_end?: number;
  readonly support?: Support;
  readonly receipt?: string;
  readonly salt?: string;
}

export interface ProvenCitation extends Citation, Evidence {
  readonly document_version?: number;
  readonly locations?: readonly Location[];
}

/** A source of a mark in the answer. */
export interface ProvenMark extends Evidence {
  readonly index: number;
  /** UTF-16 offsets [start, end) of the mark. */
  readonly start: number;
  readonly end: number;
  /** UTF-16 offsets [start, end) of the sentence before the mark. */
  readonly sentence_start?: number;
  readonly sentence_end?: number;
}

export interface ProvenAnswer {
  readonly citations: readonly ProvenCitation[];
  readonly marks: readonly ProvenMark[];
}

interface EvidenceDeps {
  readonly db: Database;
  readonly receipts: ReceiptSigner;
  readonly log: Pick<Log, "warn">;
}

/**
 * Reads the chunks that are cited in one statement, and has the receipts made at once. A chunk that is not
 * published any more, or out of the scope, leaves its citation as it was: there is nothing to check it
 * against.
 * @throws what the database throws.
 */
export async function proveCitations(
  deps: EvidenceDeps,
  { scope, turnId }: { readonly scope: KnowledgeScope; readonly turnId: string },
  citations: readonly Citation[],
  quotes: readonly MarkedQuote[],
): Promise<ProvenAnswer> {
  const spaceIds = scope.spaces.map((space) => space.id);
  const chunks = await readTenant(deps.db, scope.organization, (sql) =>
    readCitedChunks(sql, { spaceIds, folderIds: scope.folderIds }, citations),
  );
  const byIndex = new Map(
    citations.flatMap((citation) => {
      const chunk = chunks.get(citation.chunk_id);
      return chunk === undefined ? [] : [[citation.index, { citation, chunk }] as const];
    }),
  );
  const checked = quotes.map((quote) => check(quote, byIndex.get(quote.index), turnId));
  const vouched = checked.flatMap(({ statement }) => statement ?? []);
  const issued = await issue(deps, scope.organization.id, vouched, turnId);
  const receiptOf = new Map<Vouched, IssuedReceipt>(
    issued.map((receipt, number) => [vouched[number]!, receipt]),
  );
  const marks = checked.map(({ mark, statement }) => ({
    ...mark,
    ...(statement === undefined ? {} : receiptOf.get(statement)),
  }));
  return {
    citations: citations.map((citation) => proven(citation, chunks.get(citation.chunk_id), quotes, marks)),
    marks,
  };
}

/** An answer without receipts is better than none. */
async function issue(
  { receipts, log }: EvidenceDeps,
  organizationId: string,
  vouched: readonly Vouched[],
  turnId: string,
): Promise<readonly IssuedReceipt[]> {
  if (vouched.length === 0) return [];
  try {
    return await receipts.issue(organizationId, vouched);
  } catch (error) {
    log.warn({ err: error, turn_id: turnId }, "an answer has no receipts");
    return [];
  }
}

interface Cited {
  readonly citation: Citation;
  readonly chunk: CitedChunk;
}

function check(
  { index, start, end, statement, quote, support }: MarkedQuote,
  cited: Cited | undefined,
  turnId: string,
): { mark: ProvenMark; statement: Vouched | undefined } {
  const sentence =
    statement === undefined ? {} : { sentence_start: statement.start, sentence_end: statement.end };
  const mark: ProvenMark = { index, start, end, ...sentence };
  if (cited === undefined) return { mark, statement: undefined };
  const { chunk, citation } = cited;
  const words = quote === null ? "" : chunk.text.slice(...quote);
  // The passage is the beginning of the chunk or all of it, so that both have the same words there.
  if (quote === null || statement === undefined || words !== citation.text.slice(...quote))
    return { mark: { ...mark, support }, statement: undefined };
  const [quoteStart, quoteEnd] = quote;
  return {
    mark: { ...mark, quote: words, quote_start: quoteStart, quote_end: quoteEnd, support },
    statement: {
      spaceId: chunk.space_id,
      documentId: citation.document_id,
      documentVersion: chunk.document_version,
      chunkId: citation.chunk_id,
      chunkIndex: citation.chunk_index,
      chunkText: chunk.text,
      quote: words,
      quoteStart,
      quoteEnd,
      ...offsetsInDocument(chunk, quoteStart, quoteEnd),
      locations: locationsIn(chunk, quoteStart, quoteEnd),
      sentence: statement.sentence,
      turnId,
    },
  };
}

/** Unknown where the chunk holds text that is not there in the document, such as a repeated header. */
function offsetsInDocument(
  { start_offset: start, end_offset: end, text }: CitedChunk,
  from: number,
  to: number,
): Pick<Vouched, "start" | "end"> {
  if (start === null || end === null || end - start !== text.length) return {};
  return { start: start + from, end: start + to };
}

/** Those of the words from `from` to `to`, else those of the chunk. */
function locationsIn(chunk: CitedChunk, from: number, to: number): Location[] {
  return chunkLocations(chunk, from, to) ?? chunkLocations(chunk) ?? [];
}

/** The citation with the evidence of its best supported mark. */
function proven(
  citation: Citation,
  chunk: CitedChunk | undefined,
  quotes: readonly MarkedQuote[],
  marks: readonly ProvenMark[],
): ProvenCitation {
  if (chunk === undefined) return citation;
  let best: number | undefined;
  for (const [number, { index, coverage, support }] of quotes.entries()) {
    if (index !== citation.index) continue;
    const before = best === undefined ? undefined : quotes[best]!;
    const isBetter =
      before === undefined ||
      (support === before.support ? coverage > before.coverage : support === "strong");
    if (isBetter) best = number;
  }
  const evidence = best === undefined ? {} : evidenceOf(marks[best]!);
  const locations = locationsIn(chunk, evidence.quote_start ?? 0, evidence.quote_end ?? Infinity);
  return {
    ...citation,
    document_version: chunk.document_version,
    ...evidence,
    ...(locations.length === 0 ? {} : { locations }),
  };
}

/** What a mark has besides its place in the answer. */
function evidenceOf(mark: ProvenMark): Evidence {
  const {
    index: _index,
    start: _start,
    end: _end,
    sentence_start: _from,
    sentence_end: _to,
    ...evidence
  } = mark;
  return evidence;
}
