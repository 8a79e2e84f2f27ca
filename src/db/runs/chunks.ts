/** All SQL of what a run produced: its text as parsed, its chunks, and the embeddings that are kept by content. */
import pgvector from "pgvector/pg";
import type { TextUnit } from "../../domain/text-unit.ts";
import type { Fence } from "./attempt.ts";
import type { Sql } from "../pool.ts";

export interface NewChunk {
  readonly id: string;
  readonly text: string;
  readonly tokenCount: number;
  readonly pageStart: number | null;
  readonly pageEnd: number | null;
  readonly metadata: Record<string, unknown>;
  /** 16 bytes. */
  readonly contentHash: Buffer;
  /** The number of the model that refuses its text, where that is known already. */
  readonly refusedBy?: number | null;
}

export interface PreparedRun {
  readonly runId: string;
  readonly runNum: number;
  readonly documentId: string;
  readonly parserName: string;
  readonly embeddingModel: string;
  readonly pageCount: number | null;
  readonly warnings: readonly unknown[];
  readonly extracted: Record<string, unknown>;
  readonly units: readonly TextUnit[];
  readonly chunks: readonly NewChunk[];
  /** Units and chunks of the run that are written already. */
  readonly unitsBefore: number;
  readonly chunksBefore: number;
  /** Where the run goes on behind this part; null with the last. */
  readonly checkpoint: { readonly state: object; readonly progress: number } | null;
}

const UNITS_A_BLOCK = 100;
const ROWS_A_STATEMENT = 2_000;

/**
 * Writes the text and chunks of prepared runs and turns their flags, each run once: what an earlier attempt wrote stays.
 * Runs that the fence no longer holds are left out. A part that is not the last moves the run's checkpoint, in the same transaction.
 * @returns the ids of the runs that were written.
 */
export async function writePrepared(
  sql: Sql,
  organizationId: string,
  fence: Fence,
  prepared: readonly PreparedRun[],
): Promise<ReadonlySet<string>> {
  const isDescribed = (run: PreparedRun): boolean =>
    run.checkpoint === null && Object.keys(run.extracted).length > 0;
  const toDescribe = prepared.filter(isDescribed).map((run) => run.documentId);
  // Documents before runs, as everyone locks them: a request that supersedes a run holds its document first.
  if (toDescribe.length > 0)
    await sql.query("select from documents where id = any($1::uuid[]) order by id for no key update", [
      toDescribe,
    ]);
  const held = await sql.query<{ id: string }>(
    `select id from pipeline_runs where id = any($3::uuid[]) and claim_id = $1 and attempt_id = $2
       and status in ('parsing', 'chunking') order by id for update`,
    [fence.claimId, fence.attemptId, prepared.map((run) => run.runId)],
  );
  const mine = new Set(held.rows.map((row) => row.id));
  const runs = prepared.filter((run) => mine.has(run.runId));
  if (runs.length === 0) return mine;
  await insertTextBlocks(sql, organizationId, runs);
  await insertChunks(sql, organizationId, runs);
  await referToEmbeddings(sql, runs);
  await moveCheckpoints(sql, runs);
  await endPreparation(
    sql,
    runs.filter((run) => run.checkpoint === null),
  );
  const described = runs.filter(isDescribed);
  if (described.length === 0) return mine;
  await sql.query(
    "update documents d set extracted = e.extracted from unnest($1::uuid[], $2::jsonb[]) e(id, extracted) where d.id = e.id",
    [described.map((run) => run.documentId), described.map((run) => JSON.stringify(run.extracted))],
  );
  return mine;
}

type ImportedPart = Pick<
  PreparedRun,
  "runNum" | "documentId" | "units" | "chunks" | "unitsBefore" | "chunksBefore"
>;

/** A part of a run that was prepared elsewhere: its text and chunks, and what says that their embeddings are used. */
export async function writeImported(sql: Sql, organizationId: string, part: ImportedPart): Promise<void> {
  await insertTextBlocks(sql, organizationId, [part]);
  await insertChunks(sql, organizationId, [part]);
  await referToEmbeddings(sql, [part]);
}

async function referToEmbeddings(sql: Sql, runs: readonly ImportedPart[]): Promise<void> {
  await sql.query(
    `insert into embedding_cache_references (organization_id, content_hash, raw_file_id)
     select distinct c.organization_id, c.content_hash, f.id from unnest($1::int[], $2::int[]) r(run_num, first)
     join chunks c on c.run_num = r.run_num and c.chunk_index >= r.first
     join raw_files f on f.document_id = c.document_id and f.deleted_at is null on conflict do nothing`,
    [runs.map((run) => run.runNum), runs.map((run) => run.chunksBefore)],
  );
}

async function moveCheckpoints(sql: Sql, runs: readonly PreparedRun[]): Promise<void> {
  for (const { runId, checkpoint } of runs) {
    if (checkpoint === null) continue;
    await sql.query(
      "update pipeline_runs set checkpoint = $2, progress = $3, waiting_for = null where id = $1",
      [runId, JSON.stringify(checkpoint.state), checkpoint.progress],
    );
  }
}

async function endPreparation(sql: Sql, runs: readonly PreparedRun[]): Promise<void> {
  await sql.query(
    `update pipeline_runs r set parsed = true, chunked = true, status = 'embedding', attempt_id = null, progress = 0.5, checkpoint = null, lost_attempts = 0, waiting_for = null,
       parser_name = p.parser_name, embedding_model = p.embedding_model, page_count = p.page_count, chunk_count = p.chunk_count, warnings = p.warnings
     from unnest($1::uuid[], $2::text[], $3::text[], $4::int[], $5::int[], $6::jsonb[]) p(id, parser_name, embedding_model, page_count, chunk_count, warnings)
     where r.id = p.id`,
    [
      runs.map((run) => run.runId),
      runs.map((run) => run.parserName),
      runs.map((run) => run.embeddingModel),
      runs.map((run) => run.pageCount),
      runs.map((run) => run.chunksBefore + run.chunks.length),
      runs.map((run) => JSON.stringify(run.warnings)),
    ],
  );
}

async function insertTextBlocks(
  sql: Sql,
  organizationId: string,
  runs: readonly ImportedPart[],
): Promise<void> {
  const blocks = runs.flatMap((run) =>
    Array.from({ length: Math.ceil(run.units.length / UNITS_A_BLOCK) }, (_, block) => {
      const units = run.units.slice(block * UNITS_A_BLOCK, (block + 1) * UNITS_A_BLOCK);
      return {
        runNum: run.runNum,
        first: run.unitsBefore + block * UNITS_A_BLOCK,
        count: units.length,
        units: JSON.stringify(units),
      };
    }),
  );
  for (let from = 0; from < blocks.length; from += ROWS_A_STATEMENT) {
    const rows = blocks.slice(from, from + ROWS_A_STATEMENT);
    await sql.query(
      `insert into text_blocks (organization_id, run_num, first_index, unit_count, units)
       select $1, u.* from unnest($2::int[], $3::int[], $4::int[], $5::jsonb[]) u on conflict do nothing`,
      [
        organizationId,
        rows.map((row) => row.runNum),
        rows.map((row) => row.first),
        rows.map((row) => row.count),
        rows.map((row) => row.units),
      ],
    );
  }
}

async function insertChunks(sql: Sql, organizationId: string, runs: readonly ImportedPart[]): Promise<void> {
  const all = runs.flatMap((run) =>
    run.chunks.map((chunk, index) => ({ run, chunk, index: run.chunksBefore + index })),
  );
  for (let from = 0; from < all.length; from += ROWS_A_STATEMENT) {
    const rows = all.slice(from, from + ROWS_A_STATEMENT);
    await sql.query(
      `insert into chunks (organization_id, run_num, chunk_index, id, document_id, text, token_count, page_start, page_end, metadata, content_hash, refused_by)
       select $1, u.*
       from unnest($2::int[], $3::int[], $4::uuid[], $5::uuid[], $6::text[], $7::int[], $8::int[], $9::int[], $10::jsonb[], $11::bytea[], $12::smallint[]) u
       on conflict do nothing`,
      [
        organizationId,
        rows.map((row) => row.run.runNum),
        rows.map((row) => row.index),
        rows.map((row) => row.chunk.id),
        rows.map((row) => row.run.documentId),
        rows.map((row) => row.chunk.text),
        rows.map((row) => row.chunk.tokenCount),
        rows.map((row) => row.chunk.pageStart),
        rows.map((row) => row.chunk.pageEnd),
        rows.map((row) => JSON.stringify(row.chunk.metadata)),
        rows.map((row) => row.chunk.contentHash),
        rows.map((row) => row.chunk.refusedBy ?? null),
      ],
    );
  }
}

/** The number of a model's vectors; the same for the same name, made when first asked for. @throws RangeError where the name had other dimensions. */
export async function embeddingModelNum(sql: Sql, name: string, dimensions: number): Promise<number> {
  const find = async (): Promise<{ num: number; dimensions: number } | undefined> =>
    (
      await sql.query<{ num: number; dimensions: number }>(
        "select num, dimensions from embedding_models where name = $1",
        [name],
      )
    ).rows[0];
  let row = await find();
  if (!row) {
    await sql.query(
      "insert into embedding_models (name, dimensions) values ($1, $2) on conflict (name) do nothing",
      [name, dimensions],
    );
    row = await find();
  }
  if (row?.dimensions !== dimensions)
    throw new RangeError(
      `the embedding model ${name} had ${row?.dimensions} dimensions, now it has ${dimensions}`,
    );
  return row.num;
}

export interface ChunkToEmbed {
  readonly run_num: number;
  readonly chunk_index: number;
  readonly content_hash: Buffer;
  readonly text: string;
}

interface ChunksToEmbed {
  readonly organizationId: string;
  readonly modelNum: number;
  readonly runNums: readonly number[];
  readonly limit: number;
}

/** Chunks of the runs whose text has no embedding of this model yet and is not refused by it, at most `limit`, in order. */
export async function chunksToEmbed(
  sql: Sql,
  { organizationId, modelNum, runNums, limit }: ChunksToEmbed,
): Promise<ChunkToEmbed[]> {
  const { rows } = await sql.query<ChunkToEmbed>({
    name: "chunks.to-embed",
    text: `select c.run_num, c.chunk_index, c.content_hash, c.text from chunks c
           where c.run_num = any($3::int[]) and c.refused_by is distinct from $2 and not exists (
             select from embedding_cache e where e.organization_id = $1 and e.model_num = $2 and e.content_hash = c.content_hash)
           order by c.run_num, c.chunk_index limit $4`,
    values: [organizationId, modelNum, runNums, limit],
  });
  return rows;
}

/** Keeps embeddings by content: the checkpoint of embedding. Keeping one again changes nothing. */
export async function keepEmbeddings(
  sql: Sql,
  organizationId: string,
  modelNum: number,
  embedded: ReadonlyArray<{ hash: Buffer; vector: Float32Array }>,
): Promise<void> {
  await sql.query({
    name: "chunks.keep-embeddings",
    text: `insert into embedding_cache (organization_id, model_num, content_hash, embedding)
           select $1, $2, u.hash, u.vector::halfvec from unnest($3::bytea[], $4::text[]) u(hash, vector) on conflict do nothing`,
    values: [
      organizationId,
      modelNum,
      embedded.map((entry) => entry.hash),
      embedded.map((entry) => pgvector.toSql(Array.from(entry.vector))),
    ],
  });
}

/** The text of chunks from `from` on, in order, for indexing. */
export async function chunkTexts(
  sql: Sql,
  runNum: number,
  from: number,
  limit: number,
): Promise<Array<{ chunk_index: number; text: string }>> {
  const { rows } = await sql.query<{ chunk_index: number; text: string }>(
    "select chunk_index, text from chunks where run_num = $1 and chunk_index >= $2 order by chunk_index limit $3",
    [runNum, from, limit],
  );
  return rows;
}
