/** All SQL that reads what a run made of a document, as callers see it: its text in units, and its chunks. */
import type { TextUnit } from "../../domain/text-unit.ts";
import type { Sql } from "../pool.ts";

/**
 * The run whose text and chunks are the document's: the published one; before the first publication the latest, once it is parsed.
 * Null where there is no text yet.
 */
export async function shownRunNum(sql: Sql, documentId: string): Promise<number | null> {
  const { rows } = await sql.query<{ run_num: number | null }>(
    `select coalesce(d.published_run_num, case when r.parsed then r.num end) as run_num
     from documents d left join pipeline_runs r on r.num = d.latest_run_num where d.id = $1`,
    [documentId],
  );
  return rows[0]?.run_num ?? null;
}

export interface IndexedUnit extends TextUnit {
  readonly index: number;
  readonly heading_path: string[];
}

export async function countUnits(sql: Sql, runNum: number): Promise<number> {
  const { rows } = await sql.query<{ total: number }>(
    "select coalesce(max(first_index + unit_count), 0)::int as total from text_blocks where run_num = $1",
    [runNum],
  );
  return rows[0]!.total;
}

/** The run's text units from one index on, in order: `limit` of them, a row each, so that no row is larger than a unit may be. */
export async function readUnits(
  sql: Sql,
  runNum: number,
  from: number,
  limit: number,
): Promise<IndexedUnit[]> {
  const { rows } = await sql.query<{ index: number; unit: Omit<IndexedUnit, "index"> }>(
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
  return rows.map(({ index, unit }) => ({ ...unit, index }));
}

export interface ChunkRow {
  readonly id: string;
  readonly document_id: string;
  readonly chunk_index: number;
  readonly text: string;
  readonly token_count: number;
  readonly page_start: number | null;
  readonly page_end: number | null;
  readonly metadata: Record<string, unknown>;
  readonly embedding: {
    model: string | null;
    dimensions: number | null;
    embedded: boolean;
    embedded_at: string | null;
  };
}

export async function countChunks(sql: Sql, runNum: number): Promise<number> {
  const { rows } = await sql.query<{ total: number }>(
    "select count(*)::int as total from chunks where run_num = $1",
    [runNum],
  );
  return rows[0]!.total;
}

/**
 * The run's chunks from one index on, in order: `limit` of them. Their vectors are whole when the run is published, and not before; a chunk that
 * the model refuses has none.
 */
export async function readChunks(sql: Sql, runNum: number, from: number, limit: number): Promise<ChunkRow[]> {
  const { rows } = await sql.query<ChunkRow>(
    `select c.id, c.document_id, c.chunk_index, c.text, c.token_count, c.page_start, c.page_end, c.metadata,
       jsonb_build_object('model', r.embedding_model, 'dimensions', m.dimensions, 'embedded', v.is_there, 'embedded_at', case when v.is_there then r.completed_at end) as embedding
     from chunks c join pipeline_runs r on r.num = c.run_num left join embedding_models m on m.name = r.embedding_model
     cross join lateral (select r.embedded and (c.refused_by is distinct from m.num or exists (
       select from embeddings e where e.space_num = r.space_num and e.run_num = c.run_num and e.chunk_index = c.chunk_index)) as is_there) v
     where c.run_num = $1 and c.chunk_index >= $2 and c.chunk_index < $2::int + $3::int
     order by c.chunk_index`,
    [runNum, from, limit],
  );
  return rows;
}
