/** All SQL that reads what a run made of a document, as callers see it: its text units and its chunks. */
import type { Location } from "../../domain/locations/location.ts";
import { chunkLocations, unitLocations } from "../../domain/locations/of-chunk.ts";
import type { PackedPlaces } from "../../domain/locations/packed.ts";
import type { ChunkMetadata, TextUnit } from "../../domain/text-unit.ts";
import type { Sql } from "../pool.ts";

/**
 * Returns the run whose text and chunks the document shows: the published one or, before the first
 * publication, the latest one once it is parsed. Null if there is no text yet.
 */
export async function shownRunNum(sql: Sql, documentId: string): Promise<number | null> {
  const { rows } = await sql.query<{ run_num: number | null }>(
    `select coalesce(document.published_run_num, case when run.parsed then run.num end) as run_num
     from documents document
     left join pipeline_runs run on run.num = document.latest_run_num
     where document.id = $1`,
    [documentId],
  );
  return rows[0]?.run_num ?? null;
}

export interface IndexedUnit extends Omit<TextUnit, "places"> {
  readonly index: number;
  readonly heading_path: string[];
  /** Absent if unknown. */
  readonly locations?: Location[];
}

type StoredUnit = Omit<IndexedUnit, "index" | "locations"> & Pick<TextUnit, "places">;

export async function countUnits(sql: Sql, runNum: number): Promise<number> {
  const { rows } = await sql.query<{ total: number }>(
    `select coalesce(max(first_index + unit_count), 0)::int as total
     from text_blocks
     where run_num = $1`,
    [runNum],
  );
  return rows[0]!.total;
}

/** Returns at most `limit` text units of the run from index `from` on; a row has one, which bounds it. */
export async function readUnits(
  sql: Sql,
  runNum: number,
  from: number,
  limit: number,
): Promise<IndexedUnit[]> {
  const { rows } = await sql.query<{ index: number; unit: StoredUnit }>(
    `select block.first_index + entry.position::int - 1 as index, entry.unit
     from text_blocks as block
     cross join lateral jsonb_array_elements(block.units) with ordinality as entry (unit, position)
     where block.run_num = $1
       and block.first_index < $2::int + $3::int
       and block.first_index + block.unit_count > $2
       and block.first_index + entry.position - 1 >= $2
       and block.first_index + entry.position - 1 < $2::int + $3::int
     order by index`,
    [runNum, from, limit],
  );
  return rows.map(({ index, unit: { places, ...unit } }) => ({
    ...unit,
    index,
    ...located(unitLocations({ places, heading_path: unit.heading_path })),
  }));
}

function located(locations: Location[] | undefined): { locations?: Location[] } {
  return locations === undefined ? {} : { locations };
}

export interface ChunkRow {
  readonly id: string;
  readonly document_id: string;
  readonly chunk_index: number;
  readonly text: string;
  readonly token_count: number;
  readonly page_start: number | null;
  readonly page_end: number | null;
  readonly metadata: ChunkMetadata;
  readonly embedding: {
    model: string | null;
    dimensions: number | null;
    embedded: boolean;
    embedded_at: string | null;
  };
  /** UTF-16 offsets in the document as Markdown; absent if unknown, like the locations. */
  readonly start?: number;
  readonly end?: number;
  readonly locations?: Location[];
}

type StoredChunk = Omit<ChunkRow, "start" | "end" | "locations"> & {
  readonly start: number | null;
  readonly end: number | null;
  readonly places: PackedPlaces | null;
};

export async function countChunks(sql: Sql, runNum: number): Promise<number> {
  const { rows } = await sql.query<{ total: number }>(
    `select count(*)::int as total
     from chunks
     where run_num = $1`,
    [runNum],
  );
  return rows[0]!.total;
}

/**
 * Returns at most `limit` chunks of the run from index `from` on, in order. A chunk counts as embedded once
 * the run is published, unless the model refused its text.
 */
export async function readChunks(sql: Sql, runNum: number, from: number, limit: number): Promise<ChunkRow[]> {
  const { rows } = await sql.query<StoredChunk>(
    `select chunk.id,
            chunk.document_id,
            chunk.chunk_index,
            chunk.text,
            chunk.token_count,
            chunk.page_start,
            chunk.page_end,
            chunk.metadata,
            chunk.start_offset as start,
            chunk.end_offset as "end",
            chunk.places,
            jsonb_build_object(
              'model', run.embedding_model,
              'dimensions', model.dimensions,
              'embedded', vector.is_there,
              'embedded_at', case when vector.is_there then run.completed_at end
            ) as embedding
     from chunks chunk
     join pipeline_runs run on run.num = chunk.run_num
     left join embedding_models model on model.name = run.embedding_model
     cross join lateral (
       select run.embedded and (
                chunk.refused_by is distinct from model.num
                or exists (
                  select
                  from embeddings embedding
                  where embedding.space_num = run.space_num
                    and embedding.run_num = chunk.run_num
                    and embedding.chunk_index = chunk.chunk_index
                )
              ) as is_there
     ) vector
     where chunk.run_num = $1
       and chunk.chunk_index >= $2
       and chunk.chunk_index < $2::int + $3::int
     order by chunk.chunk_index`,
    [runNum, from, limit],
  );
  return rows.map(({ places, start, end, ...chunk }) => ({
    ...chunk,
    ...(start === null || end === null ? {} : { start, end }),
    ...located(chunkLocations({ places, metadata: chunk.metadata })),
  }));
}
