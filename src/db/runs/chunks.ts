/** All SQL of what a run produced: its parsed text, its chunks, and the cache of embeddings by content. */
import pgvector from "pgvector/pg";
import type { Sql } from "../pool.ts";
import { noteTenantEvents } from "../events/noted.ts";
import type { Fence } from "./attempt.ts";
import { type RunPart, insertChunks, insertTextBlocks, referToEmbeddings } from "./insert-chunks.ts";

export interface PreparedRun extends RunPart {
  readonly runId: string;
  readonly parserName: string;
  readonly parserVersion: number;
  readonly embeddingModel: string;
  readonly pageCount: number | null;
  readonly warnings: readonly unknown[];
  readonly extracted: Record<string, unknown>;
  /** Where the run continues after this part; null for the last part. */
  readonly checkpoint: { readonly state: object; readonly progress: number } | null;
}

/**
 * Writes the text and chunks of prepared runs, or of parts of them, in the caller's transaction. Idempotent:
 * rows that an earlier attempt wrote stay. Runs that the fence does not match any more are skipped. The last
 * part sets the run's flags; every other part moves its checkpoint.
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
  // Every transaction locks documents before runs, as a request that supersedes a run does; so none deadlock.
  if (toDescribe.length > 0)
    await sql.query(
      `select
       from documents
       where id = any($1::uuid[])
       order by id
       for no key update`,
      [toDescribe],
    );
  const locked = await lockMembers(sql, fence, prepared);
  const runs = prepared.filter((run) => locked.has(run.runId));
  if (runs.length === 0) return locked;
  await insertTextBlocks(sql, organizationId, runs);
  await insertChunks(sql, organizationId, runs);
  await referToEmbeddings(sql, runs);
  await moveCheckpoints(sql, runs);
  await endPreparation(
    sql,
    runs.filter((run) => run.checkpoint === null),
  );
  const described = runs.filter(isDescribed);
  if (described.length > 0) await describeDocuments(sql, described);
  return locked;
}

async function lockMembers(sql: Sql, fence: Fence, prepared: readonly PreparedRun[]): Promise<Set<string>> {
  const { rows } = await sql.query<{ id: string }>(
    `select id
     from pipeline_runs
     where id = any($3::uuid[])
       and claim_id = $1
       and attempt_id = $2
       and status in ('parsing', 'chunking')
     order by id
     for update`,
    [fence.claimId, fence.attemptId, prepared.map((run) => run.runId)],
  );
  return new Set(rows.map((row) => row.id));
}

async function describeDocuments(sql: Sql, described: readonly PreparedRun[]): Promise<void> {
  await sql.query(
    `update documents document
     set extracted = described.extracted
     from unnest($1::uuid[], $2::jsonb[]) described(id, extracted)
     where document.id = described.id`,
    [described.map((run) => run.documentId), described.map((run) => JSON.stringify(run.extracted))],
  );
}

/** Writes text and chunks of a part of an imported run, and notes which cached embeddings it uses. */
export async function writeImported(sql: Sql, organizationId: string, part: RunPart): Promise<void> {
  await insertTextBlocks(sql, organizationId, [part]);
  await insertChunks(sql, organizationId, [part]);
  await referToEmbeddings(sql, [part]);
}

async function moveCheckpoints(sql: Sql, runs: readonly PreparedRun[]): Promise<void> {
  for (const { runId, checkpoint } of runs) {
    if (checkpoint === null) continue;
    await sql.query(
      `update pipeline_runs
       set checkpoint = $2,
           progress = $3,
           waiting_for = null
       where id = $1`,
      [runId, JSON.stringify(checkpoint.state), checkpoint.progress],
    );
  }
}

async function endPreparation(sql: Sql, runs: readonly PreparedRun[]): Promise<void> {
  noteTenantEvents(sql);
  await sql.query(
    `update pipeline_runs run
     set parsed = true,
         chunked = true,
         status = 'embedding',
         attempt_id = null,
         progress = 0.5,
         checkpoint = null,
         lost_attempts = 0,
         waiting_for = null,
         parser_name = prepared.parser_name,
         parser_version = prepared.parser_version,
         embedding_model = prepared.embedding_model,
         page_count = prepared.page_count,
         chunk_count = prepared.chunk_count,
         warnings = prepared.warnings
     from unnest($1::uuid[], $2::text[], $3::int[], $4::text[], $5::int[], $6::int[], $7::jsonb[])
            prepared(id, parser_name, parser_version, embedding_model, page_count, chunk_count, warnings)
     where run.id = prepared.id`,
    [
      runs.map((run) => run.runId),
      runs.map((run) => run.parserName),
      runs.map((run) => run.parserVersion),
      runs.map((run) => run.embeddingModel),
      runs.map((run) => run.pageCount),
      runs.map((run) => run.chunksBefore + run.chunks.length),
      runs.map((run) => JSON.stringify(run.warnings)),
    ],
  );
}

/** The number of the model's vectors, assigned once. @throws RangeError if it had other dimensions before. */
export async function embeddingModelNum(sql: Sql, name: string, dimensions: number): Promise<number> {
  let row = await findModel(sql, name);
  if (row === undefined) {
    await sql.query(
      `insert into embedding_models (name, dimensions)
       values ($1, $2)
       on conflict (name) do nothing`,
      [name, dimensions],
    );
    row = await findModel(sql, name);
  }
  if (row?.dimensions !== dimensions)
    throw new RangeError(
      `the embedding model ${name} had ${row?.dimensions} dimensions, now it has ${dimensions}`,
    );
  return row.num;
}

async function findModel(sql: Sql, name: string): Promise<{ num: number; dimensions: number } | undefined> {
  const { rows } = await sql.query<{ num: number; dimensions: number }>(
    `select num, dimensions
     from embedding_models
     where name = $1`,
    [name],
  );
  return rows[0];
}

export interface ChunkToEmbed {
  readonly run_num: number;
  readonly chunk_index: number;
  readonly content_hash: Buffer;
  /** Is embedded with the text; null in what versions before 0.10.0 wrote. */
  readonly header: string | null;
  readonly text: string;
}

interface ChunksToEmbed {
  readonly organizationId: string;
  readonly modelNum: number;
  readonly runNums: readonly number[];
  readonly limit: number;
}

/** Returns chunks, in order, whose text the model does not refuse and that have no cached embedding of it. */
export async function chunksToEmbed(
  sql: Sql,
  { organizationId, modelNum, runNums, limit }: ChunksToEmbed,
): Promise<ChunkToEmbed[]> {
  const { rows } = await sql.query<ChunkToEmbed>({
    name: "chunks.to-embed",
    text: `select chunk.run_num, chunk.chunk_index, chunk.content_hash, chunk.header, chunk.text
           from chunks chunk
           where chunk.run_num = any($3::int[])
             and chunk.refused_by is distinct from $2
             and not exists (
               select
               from embedding_cache cached
               where cached.organization_id = $1
                 and cached.model_num = $2
                 and cached.content_hash = chunk.content_hash
             )
           order by chunk.run_num, chunk.chunk_index
           limit $4`,
    values: [organizationId, modelNum, runNums, limit],
  });
  return rows;
}

/** Caches embeddings by content: the checkpoint of embedding, from which an attempt goes on. Idempotent. */
export async function keepEmbeddings(
  sql: Sql,
  organizationId: string,
  modelNum: number,
  embedded: ReadonlyArray<{ hash: Buffer; vector: Float32Array }>,
): Promise<void> {
  await sql.query({
    name: "chunks.keep-embeddings",
    text: `insert into embedding_cache (organization_id, model_num, content_hash, embedding)
           select $1, $2, embedded.hash, embedded.vector::halfvec
           from unnest($3::bytea[], $4::text[]) embedded(hash, vector)
           on conflict do nothing`,
    values: [
      organizationId,
      modelNum,
      embedded.map((entry) => entry.hash),
      embedded.map((entry) => pgvector.toSql(Array.from(entry.vector))),
    ],
  });
}

/** Returns the headers and texts of at most `limit` chunks from index `from` on, in order. */
export async function chunkTexts(
  sql: Sql,
  runNum: number,
  from: number,
  limit: number,
): Promise<Array<{ chunk_index: number; header: string | null; text: string }>> {
  const { rows } = await sql.query<{ chunk_index: number; header: string | null; text: string }>(
    `select chunk_index, header, text
     from chunks
     where run_num = $1
       and chunk_index >= $2
     order by chunk_index
     limit $3`,
    [runNum, from, limit],
  );
  return rows;
}
