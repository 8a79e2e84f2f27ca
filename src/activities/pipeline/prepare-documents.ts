/** The first step of the pipeline: reads each member's file, parses and chunks it, writes text and chunks. */
import { createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { buffer } from "node:stream/consumers";
import type { Chunk } from "../../chunkers/index.ts";
import { type PreparedRun, writePrepared } from "../../db/runs/chunks.ts";
import type { NewChunk } from "../../db/runs/insert-chunks.ts";
import { inTenant } from "../../db/pool.ts";
import { type Member, clearSuspicion } from "../../db/runs/attempt.ts";
import { createTimeSlice, turnOfLoop } from "../../process/time-slice.ts";
import { DomainError } from "../../domain/errors.ts";
import type { FileType } from "../../domain/file-type.ts";
import { newId } from "../../domain/ids.ts";
import { type AttemptInput, type GroupOutcome, MAX_DOCUMENT_CHUNKS } from "../../domain/work/processing.ts";
import type { ParsedDocument, TextUnit } from "../../domain/text-unit.ts";
import { drillPoint } from "../../telemetry/drill-point.ts";
import { continueTrace } from "../../telemetry/span.ts";
import { pipelineStage } from "../../telemetry/stage.ts";
import { mayParseInWorker, parserFor } from "../../parsers/index.ts";
import { parsePages } from "../../parsers/page-range.ts";
import type { ParseOptions } from "../../parsers/process/child-process.ts";
import type { ParseInput } from "../../parsers/parser.ts";
import { PARSER_VERSION } from "../../parsers/version.ts";
import { type Checkpoint, type DocumentPart, documentParts, onlyPart } from "./document-parts.ts";
import { type Attempt, attemptStep, backInQueue } from "./attempt.ts";
import { headerOf } from "./chunk-header.ts";
import { contentHash } from "./content-hash.ts";
import { inGroups } from "./groups.ts";
import { createFairGate } from "../../process/concurrency/fair-gate.ts";
import { inTurns } from "../../process/concurrency/in-turns.ts";
import type { PipelineDeps } from "./pipeline-deps.ts";
import { publishMeanwhile } from "./publish-meanwhile.ts";

const DEFAULT_MAX_TOKENS = 240;
/** After this time a part ends and another document has its turn. Fewer pages would hide recurring lines. */
const PART_BUDGET_MS = 10_000;
/** A smaller file is parsed in a millisecond or two. */
const SMALL_BYTES = 16_384;
/** Bounds how many small files this process reads and parses itself at once; each takes milliseconds. */
const inWorker = createFairGate(8);

/** Idempotent: a member whose text and chunks are written is not taken again. */
export async function prepareDocuments(deps: PipelineDeps, input: AttemptInput): Promise<GroupOutcome> {
  return attemptStep(deps, input, "prepare", async (attempt) => {
    const secret = await deps.contentSecret(input.organization.id);
    await drillPoint("documentPipeline: prepare has its members");
    const write = inTurns<PreparedRun>(async (runs) => {
      for (const group of inGroups(runs, (run) => run.chunks.length))
        await writeRuns(deps, input, attempt, group);
    });
    const meanwhile = input.isolated ? undefined : publishMeanwhile(deps, input);
    const prepare = async (member: Member): Promise<void> => {
      for await (const part of preparedParts(deps, input.organization.id, {
        member,
        secret,
        signal: attempt.signalOf(member),
      })) {
        if (part.checkpoint !== null) await keepPart(deps, input, attempt, part);
        else {
          await write(part);
          meanwhile?.ready();
        }
      }
    };
    await Promise.all(
      attempt.members.map(async (member) => {
        try {
          await continueTrace(member.traceparent, () => prepare(member));
        } catch (error) {
          attempt.ended(member, "parsing", error);
        }
      }),
    );
    await meanwhile?.end();
  });
}

/** @returns the ids of the runs that were written. */
function writeRuns(
  deps: PipelineDeps,
  input: AttemptInput,
  attempt: Attempt,
  runs: readonly PreparedRun[],
): Promise<ReadonlySet<string>> {
  const demand = {
    owner: { organizationId: input.organization.id, userId: null },
    size: runs.reduce((sum, run) => sum + run.chunks.length, 0),
  };
  return pipelineStage("write", () =>
    deps.writes(demand, () =>
      inTenant(deps.db, input.organization, async (sql) => {
        const written = await writePrepared(sql, input.organization.id, attempt.fence, runs);
        const isKept = input.isolated && runs.some((run) => run.checkpoint !== null);
        if (isKept) await clearSuspicion(sql, attempt.fence);
        return written;
      }),
    ),
  );
}

/** @throws DomainError `cancelled` if another attempt has taken the run */
async function keepPart(
  deps: PipelineDeps,
  input: AttemptInput,
  attempt: Attempt,
  part: PreparedRun,
): Promise<void> {
  const written = await writeRuns(deps, input, attempt, [part]);
  if (!written.has(part.runId)) throw new DomainError("cancelled", "The run was taken by another attempt.");
  if (input.isolated) throw backInQueue();
}

interface MemberWork {
  readonly member: Member;
  readonly secret: Buffer;
  readonly signal: AbortSignal;
}

/** What is to be written for a member: a long document part by part, starting at its checkpoint. */
async function* preparedParts(
  deps: PipelineDeps,
  organizationId: string,
  work: MemberWork,
): AsyncGenerator<PreparedRun> {
  const { member, secret, signal } = work;
  const before = member.checkpoint as Checkpoint | null;
  let unitsBefore = before?.units ?? 0;
  let chunksBefore = before?.chunks ?? 0;
  await deps.disk.assertRoom();
  for await (const { document, title, next } of parsedParts(deps, organizationId, work)) {
    const chunks = await pipelineStage("chunk", () => chunkPart(deps, document, { organizationId, ...work }));
    const total = chunksBefore + chunks.length;
    if (next === null && total === 0) throw new DomainError("no_text", "The file contains no text.");
    if (total > MAX_DOCUMENT_CHUNKS)
      throw new DomainError("too_large", `The document has more than ${MAX_DOCUMENT_CHUNKS} chunks.`);
    signal.throwIfAborted();
    await drillPoint("documentPipeline: prepare has chunks, nothing written");
    await deps.disk.assertRoom();
    yield {
      runId: member.id,
      runNum: member.num,
      documentId: member.document_id,
      parserName: document.parser_name,
      parserVersion: PARSER_VERSION,
      embeddingModel: deps.embedding.name,
      pageCount: document.page_count,
      warnings: document.warnings,
      extracted: { ...document.metadata },
      units: document.units,
      chunks: await newChunks(chunks, title, secret),
      unitsBefore,
      chunksBefore,
      checkpoint:
        next === null
          ? null
          : {
              state: { ...next, chunks: total } satisfies Checkpoint,
              progress: (0.5 * (next.next_page - 1)) / next.page_count,
            },
    };
    unitsBefore += document.units.length;
    chunksBefore = total;
  }
}

async function chunkPart(
  deps: PipelineDeps,
  document: ParsedDocument,
  { organizationId, member, signal }: MemberWork & { organizationId: string },
): Promise<Chunk[]> {
  const maxTokens = Math.min(
    member.chunker_config.max_tokens ?? DEFAULT_MAX_TOKENS,
    deps.embedding.maxTokens,
  );
  const units = chunkedUnits(document.units);
  const overlapTokens = member.chunker_config.overlap_tokens ?? 0;
  const job = {
    chunkerName: member.chunker_name,
    units,
    maxTokens,
    overlapTokens,
    language: document.metadata.language,
  };
  return deps.chunking(job, { organizationId, userId: member.created_by }, signal);
}

/** Leaves out running headers and footers, which disturb every search, unless there is nothing else. */
function chunkedUnits(units: readonly TextUnit[]): readonly TextUnit[] {
  const own = units.filter((unit) => unit.repeats !== true);
  return own.some((unit) => unit.type !== "heading") ? own : units;
}

async function newChunks(chunks: readonly Chunk[], title: string, secret: Buffer): Promise<NewChunk[]> {
  const endOfSlice = createTimeSlice();
  const made: NewChunk[] = [];
  for (const chunk of chunks) {
    made.push(newChunk(chunk, headerOf(title, chunk), secret));
    await endOfSlice();
  }
  return made;
}

function newChunk(chunk: Chunk, header: string, secret: Buffer): NewChunk {
  return {
    id: newId(),
    text: chunk.text,
    header,
    tokenCount: chunk.token_count,
    pageStart: chunk.page_start,
    pageEnd: chunk.page_end,
    metadata: { ...chunk.metadata },
    contentHash: contentHash(secret, chunk.text, header),
    start: chunk.start,
    end: chunk.end,
    places: chunk.places,
  };
}

async function* parsedParts(
  deps: PipelineDeps,
  organizationId: string,
  { member, signal }: MemberWork,
): AsyncGenerator<DocumentPart> {
  if (member.file_size === 0) throw new DomainError("empty_file", "The file is empty.");
  const fileType = member.file_type as FileType;
  const parser = parserFor(fileType);
  const open = (): Promise<Readable> => deps.storage.get({ organizationId, name: member.object_key, signal });
  if (mayParseInWorker(parser, member.file_size)) {
    const document = await inWorker(
      { owner: { organizationId, userId: member.created_by }, size: member.file_size },
      async () => {
        const bytes = await pipelineStage("read", async () => buffer(await open()));
        if (bytes.length > SMALL_BYTES) await turnOfLoop();
        return pipelineStage("parse", async () => parser.parse({ fileType, bytes, name: member.file_name }));
      },
    );
    yield onlyPart(document);
    return;
  }
  const folder = join(deps.temporary.subfolder("documents"), member.id);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    // Native parsers tell the format by the file's extension.
    const path = join(folder, `original.${fileType.toLowerCase()}`);
    await pipelineStage("read", async () =>
      pipeline(await open(), createWriteStream(path, { mode: 0o600 }), { signal }),
    );
    const input: ParseInput = { fileType, path, name: member.file_name };
    const options: ParseOptions = { signal, owner: { organizationId, userId: member.created_by } };
    const partly: ParseInput = { ...input, budgetMs: PART_BUDGET_MS };
    if (parser.pageCount === undefined)
      yield onlyPart(await pipelineStage("parse", () => deps.parserPool.parse(input, options)));
    else
      yield* documentParts(
        (pages) => pipelineStage("parse", () => parsePages(deps.parserPool, partly, pages, options)),
        member.checkpoint as Checkpoint | null,
      );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
