/** Inserts the text and chunks of runs, many rows a statement. */
import type { PackedPlaces } from "../../domain/locations/packed.ts";
import type { TextUnit } from "../../domain/text-unit.ts";
import type { Sql } from "../pool.ts";

export interface NewChunk {
  readonly id: string;
  readonly text: string;
  /** What its document and its headings say of it; null in archives of versions before 0.10.0. */
  readonly header: string | null;
  readonly tokenCount: number;
  readonly pageStart: number | null;
  readonly pageEnd: number | null;
  readonly metadata: Record<string, unknown>;
  /** UTF-16 offsets in the document as Markdown, of its first and after its last character. */
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  /** Where its words stand in the file. */
  readonly places?: PackedPlaces | undefined;
  /** 16 bytes; the key of the embedding cache. */
  readonly contentHash: Buffer;
  /** The number of the model that refuses its text, if that is known already. */
  readonly refusedBy?: number | null;
}

/** Consecutive units and chunks of one run. */
export interface RunPart {
  readonly runNum: number;
  readonly documentId: string;
  readonly units: readonly TextUnit[];
  readonly chunks: readonly NewChunk[];
  /** Units of the run that earlier parts wrote. */
  readonly unitsBefore: number;
  /** Chunks of the run that earlier parts wrote. */
  readonly chunksBefore: number;
}

/** Bounds how many units a reader of one unit has to unpack. */
const UNITS_A_BLOCK = 100;
const ROWS_A_STATEMENT = 2_000;

/** Writes the text of the parts; blocks that exist stay as they are. */
export async function insertTextBlocks(
  sql: Sql,
  organizationId: string,
  runs: readonly RunPart[],
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
       select $1, block.*
       from unnest($2::int[], $3::int[], $4::int[], $5::jsonb[]) block
       on conflict do nothing`,
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

/** Writes the chunks of the parts; chunks that exist stay as they are. */
export async function insertChunks(
  sql: Sql,
  organizationId: string,
  runs: readonly RunPart[],
): Promise<void> {
  const all = runs.flatMap((run) =>
    run.chunks.map((chunk, index) => ({ run, chunk, index: run.chunksBefore + index })),
  );
  for (let from = 0; from < all.length; from += ROWS_A_STATEMENT) {
    const rows = all.slice(from, from + ROWS_A_STATEMENT);
    await sql.query(
      `insert into chunks
         (organization_id, run_num, chunk_index, id, document_id, text, token_count,
          page_start, page_end, metadata, content_hash, refused_by, start_offset, end_offset, places,
          header)
       select $1, chunk.*
       from unnest($2::int[], $3::int[], $4::uuid[], $5::uuid[], $6::text[], $7::int[],
                   $8::int[], $9::int[], $10::jsonb[], $11::bytea[], $12::smallint[],
                   $13::int[], $14::int[], $15::jsonb[], $16::text[]) chunk
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
        rows.map((row) => row.chunk.start ?? null),
        rows.map((row) => row.chunk.end ?? null),
        rows.map((row) => (row.chunk.places === undefined ? null : JSON.stringify(row.chunk.places))),
        rows.map((row) => row.chunk.header),
      ],
    );
  }
}

/** Notes that the parts' files use the cached embeddings of their chunks, so that they are kept. */
export async function referToEmbeddings(sql: Sql, runs: readonly RunPart[]): Promise<void> {
  await sql.query(
    `insert into embedding_cache_references (organization_id, content_hash, raw_file_id)
     select distinct chunk.organization_id, chunk.content_hash, file.id
     from unnest($1::int[], $2::int[]) part(run_num, first)
     join chunks chunk on chunk.run_num = part.run_num and chunk.chunk_index >= part.first
     join raw_files file on file.document_id = chunk.document_id and file.deleted_at is null
     on conflict do nothing`,
    [runs.map((run) => run.runNum), runs.map((run) => run.chunksBefore)],
  );
}
