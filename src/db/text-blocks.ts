/** All SQL that reads what a run made of a document, as callers see it: its text in units, and its chunks. */
import type { TextUnit } from "../domain/text-unit.ts";
import { parameters } from "./filter-sql.ts";
import { type Page, type PageRequest, readPage } from "./page.ts";
import type { Sql } from "./pool.ts";

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

interface BlockRow {
  readonly first_index: number;
  readonly units: Omit<IndexedUnit, "index">[];
}

export async function countUnits(sql: Sql, runNum: number): Promise<number> {
  const { rows } = await sql.query<{ total: number }>("select coalesce(max(first_index + unit_count), 0)::int as total from text_blocks where run_num = $1", [runNum]);
  return rows[0]!.total;
}

/** A page of the run's text units, in order. */
export async function readUnits(sql: Sql, runNum: number, { page, limit }: PageRequest): Promise<Page<IndexedUnit>> {
  const from = (page - 1) * limit;
  const total = await countUnits(sql, runNum);
  if (from >= total) return { items: [], total };
  const { rows } = await sql.query<BlockRow>(
    "select first_index, units from text_blocks where run_num = $1 and first_index < $3 and first_index + unit_count > $2 order by first_index",
    [runNum, from, from + limit],
  );
  const units = rows.flatMap((block) => block.units.map((unit, position) => ({ ...unit, index: block.first_index + position })));
  return { items: units.filter((unit) => unit.index >= from && unit.index < from + limit), total };
}

const BLOCKS_A_READ = 20;

/** The next units of the run from a block's first index on, some 2,000 at most; empty behind the last. */
export async function readUnitsFrom(sql: Sql, runNum: number, firstIndex: number): Promise<TextUnit[]> {
  const { rows } = await sql.query<BlockRow>("select first_index, units from text_blocks where run_num = $1 and first_index >= $2 order by first_index limit $3", [
    runNum,
    firstIndex,
    BLOCKS_A_READ,
  ]);
  return rows.flatMap((block) => block.units);
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
  readonly embedding: { model: string | null; dimensions: number | null; embedded: boolean; embedded_at: string | null };
}

/**
 * A page of the run's chunks, in order. Their vectors are whole when the run is published, and not before; a chunk that the model refuses
 * has none.
 */
export async function readChunks(sql: Sql, runNum: number, page: PageRequest): Promise<Page<ChunkRow>> {
  return readPage<ChunkRow>(
    sql,
    {
      columns: `c.id, c.document_id, c.chunk_index, c.text, c.token_count, c.page_start, c.page_end, c.metadata,
        jsonb_build_object('model', r.embedding_model, 'dimensions', m.dimensions, 'embedded', v.is_there, 'embedded_at', case when v.is_there then r.completed_at end) as embedding`,
      from: `chunks c join pipeline_runs r on r.num = c.run_num left join embedding_models m on m.name = r.embedding_model
        cross join lateral (select r.embedded and (c.refused_by is distinct from m.num or exists (
          select from embeddings e where e.space_num = r.space_num and e.run_num = c.run_num and e.chunk_index = c.chunk_index)) as is_there) v`,
      where: "c.run_num = $1",
      order: "c.chunk_index",
      params: parameters([runNum]),
    },
    page,
  );
}
