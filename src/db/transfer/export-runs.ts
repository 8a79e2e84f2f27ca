/** Reads published runs for an archive: their text, and their chunks with vectors. */
import type { ArchivedBlock, ArchivedChunk } from "../../domain/archive.ts";
import type { Sql } from "../sql.ts";

/** Reads chunks of a published run with vectors, from index `from` on; refused chunks have none. */
export async function readChunks(
  sql: Sql,
  run: { run_num: number; space_num: number },
  from: number,
  limit: number,
): Promise<ArchivedChunk[]> {
  const { rows } = await sql.query<ArchivedChunk>(
    `select chunk.chunk_index,
            chunk.id,
            chunk.text,
            chunk.token_count,
            chunk.page_start,
            chunk.page_end,
            chunk.metadata,
            chunk.start_offset,
            chunk.end_offset,
            chunk.places,
            chunk.header,
            embedding.embedding::text as vector
     from chunks chunk
     left join embeddings embedding
       on embedding.space_num = $2
       and embedding.run_num = chunk.run_num
       and embedding.chunk_index = chunk.chunk_index
     where chunk.run_num = $1
       and chunk.chunk_index >= $3
       and (embedding.embedding is not null or chunk.refused_by is not null)
     order by chunk.chunk_index
     limit $4`,
    [run.run_num, run.space_num, from, limit],
  );
  return rows;
}

/** @returns the model of a published run's vectors; undefined if it has none. */
export async function readModel(
  sql: Sql,
  run: { run_num: number; space_num: number },
): Promise<{ name: string; dimensions: number } | undefined> {
  const { rows } = await sql.query<{ name: string; dimensions: number }>(
    `select model.name, model.dimensions
     from embeddings embedding
     join embedding_models model on model.num = embedding.model_num
     where embedding.space_num = $2
       and embedding.run_num = $1
     limit 1`,
    [run.run_num, run.space_num],
  );
  return rows[0];
}

/** Reads blocks of a run's text, from the one on that begins with unit `from` or later. */
export async function readTextBlocks(
  sql: Sql,
  runNum: number,
  from: number,
  limit: number,
): Promise<ArchivedBlock[]> {
  const { rows } = await sql.query<ArchivedBlock>(
    `select first_index, unit_count, units
     from text_blocks
     where run_num = $1
       and first_index >= $2
     order by first_index
     limit $3`,
    [runNum, from, limit],
  );
  return rows;
}
