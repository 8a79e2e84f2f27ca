/** The first step of the pipeline: read the stored file, parse it, cut it into chunks, and write both for each member of the group. */
import { createHmac } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { buffer } from "node:stream/consumers";
import type { Chunk } from "../chunkers/index.ts";
import { type NewChunk, type PreparedRun, writePrepared } from "../db/chunks.ts";
import { inTenant } from "../db/pool.ts";
import type { Member } from "../db/run-attempts.ts";
import { DomainError } from "../domain/errors.ts";
import type { FileType } from "../domain/file-type.ts";
import { newId } from "../domain/ids.ts";
import { type AttemptInput, type GroupOutcome, MAX_DOCUMENT_CHUNKS } from "../domain/processing.ts";
import type { ParsedDocument, TextUnit } from "../domain/text-unit.ts";
import { mayParseInWorker, parserFor } from "../parsers/index.ts";
import { type Attempt, attemptStep } from "./members.ts";
import { eachOf, inTurns } from "./concurrency.ts";
import type { PipelineDeps } from "./pipeline-deps.ts";

const DEFAULT_MAX_TOKENS = 240;
const MEMBERS_AT_ONCE = 8;
const HASH_BYTES = 16;

/** Idempotent: members whose text and chunks are written already are not taken again. */
export async function prepareDocuments(deps: PipelineDeps, input: AttemptInput): Promise<GroupOutcome> {
  return attemptStep(deps, input, "prepare", async (attempt) => {
    const secret = await deps.contentSecret(input.organization.id);
    const write = inTurns<PreparedRun>((runs) => inTenant(deps.db, input.organization, (sql) => writePrepared(sql, input.organization.id, attempt.fence, runs)));
    await eachOf(attempt.members, MEMBERS_AT_ONCE, async (member) => {
      try {
        await write(await prepareMember(deps, input, attempt, { member, secret }));
      } catch (error) {
        attempt.ended(member, "parsing", error);
      }
    });
  });
}

async function prepareMember(deps: PipelineDeps, input: AttemptInput, attempt: Attempt, { member, secret }: { member: Member; secret: Buffer }): Promise<PreparedRun> {
  const signal = attempt.signalOf(member);
  const parsed = await parseMember(deps, input.organization.id, member, signal);
  const maxTokens = Math.min(member.chunker_config.max_tokens ?? DEFAULT_MAX_TOKENS, deps.embedding.maxTokens);
  const units = chunkedUnits(parsed.units);
  const chunks = await deps.chunking({ chunkerName: member.chunker_name, units, maxTokens, overlapTokens: member.chunker_config.overlap_tokens ?? 0 }, signal);
  if (chunks.length === 0) throw new DomainError("no_text", "There is no text in the file.");
  if (chunks.length > MAX_DOCUMENT_CHUNKS) throw new DomainError("too_large", `The document has more than ${MAX_DOCUMENT_CHUNKS} chunks.`);
  signal.throwIfAborted();
  return {
    runId: member.id,
    runNum: member.num,
    documentId: member.document_id,
    parserName: parsed.parser_name,
    embeddingModel: deps.embedding.name,
    pageCount: parsed.page_count,
    warnings: parsed.warnings,
    extracted: { ...parsed.metadata },
    units: parsed.units,
    chunks: chunks.map((chunk) => newChunk(chunk, secret)),
  };
}

/** Running headers and footers would be in the way of every search; where there is nothing else, they are the text. */
function chunkedUnits(units: readonly TextUnit[]): readonly TextUnit[] {
  const own = units.filter((unit) => unit.repeats !== true);
  return own.some((unit) => unit.type !== "heading") ? own : units;
}

function newChunk(chunk: Chunk, secret: Buffer): NewChunk {
  return {
    id: newId(),
    text: chunk.text,
    tokenCount: chunk.token_count,
    pageStart: chunk.page_start,
    pageEnd: chunk.page_end,
    metadata: { ...chunk.metadata },
    contentHash: createHmac("sha256", secret).update(chunk.text).digest().subarray(0, HASH_BYTES),
  };
}

async function parseMember(deps: PipelineDeps, organizationId: string, member: Member, signal: AbortSignal): Promise<ParsedDocument> {
  if (member.file_size === 0) throw new DomainError("empty_file", "The file is empty.");
  const fileType = member.file_type as FileType;
  const parser = parserFor(fileType);
  const stored = await deps.storage.get({ organizationId, name: member.object_key, signal });
  if (mayParseInWorker(parser, member.file_size)) return parser.parse({ fileType, bytes: await buffer(stored), name: member.file_name });
  const folder = join(deps.temporaryFolder, member.id);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    // Parsers of native code tell formats by the name.
    const path = join(folder, `original.${fileType.toLowerCase()}`);
    await pipeline(stored, createWriteStream(path, { mode: 0o600 }), { signal });
    return await deps.parserPool.parse({ fileType, path, name: member.file_name }, signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
