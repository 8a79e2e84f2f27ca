/** Finds out what became of the words that a receipt vouches for. */
import type { PackedPlaces } from "../../domain/locations/packed.ts";
import type { ChunkMetadata, TextUnit } from "../../domain/text-unit.ts";
import type { Sql } from "../sql.ts";

export interface CitedDocument {
  readonly space_id: string;
  readonly is_deleted: boolean;
  /** Null before a version is published. */
  readonly run_num: number | null;
  readonly version: number | null;
  readonly chunk_count: number | null;
}

/** @returns undefined if there is no such document any more. */
export async function findCitedDocument(sql: Sql, documentId: string): Promise<CitedDocument | undefined> {
  const { rows } = await sql.query<CitedDocument>(
    `select document.space_id,
            document.deleted_at is not null or folder.deleted_at is not null as is_deleted,
            document.published_run_num as run_num,
            document.published_version as version,
            run.chunk_count
     from documents document
     left join folders folder on folder.id = document.folder_id
     left join pipeline_runs run on run.num = document.published_run_num
     where document.id = $1`,
    [documentId],
  );
  return rows[0];
}

export interface FoundChunk {
  readonly id: string;
  readonly chunk_index: number;
  readonly text: string;
  /** UTF-16 offsets in the document as Markdown; null if unknown. */
  readonly start: number | null;
  readonly end: number | null;
  readonly places: PackedPlaces | null;
  readonly metadata: ChunkMetadata;
}

/** The chunk of the run that has this id and this index; undefined if the run has none. */
export async function findCitedChunk(
  sql: Sql,
  runNum: number,
  { id, index }: { readonly id: string; readonly index: number },
): Promise<FoundChunk | undefined> {
  const { rows } = await sql.query<FoundChunk>(
    `select id, chunk_index, text, start_offset as start, end_offset as "end", places, metadata
     from chunks
     where run_num = $1
       and chunk_index = $2
       and id = $3`,
    [runNum, index, id],
  );
  return rows[0];
}

/** The first chunk of the run that has exactly these words. */
export async function findChunkWith(
  sql: Sql,
  runNum: number,
  words: string,
): Promise<FoundChunk | undefined> {
  const { rows } = await sql.query<FoundChunk>(
    `select id, chunk_index, text, start_offset as start, end_offset as "end", places, metadata
     from chunks
     where run_num = $1
       and strpos(text, $2) > 0
     order by chunk_index
     limit 1`,
    [runNum, words],
  );
  return rows[0];
}

/** Words whose white space may differ. */
export interface LooseWords {
  /** A regular expression. */
  readonly pattern: string;
  /** The longest of the words: only texts that have it are matched. */
  readonly longest: string;
}

/** The first chunk of the run that has the words with any white space between them. */
export async function findChunkLike(
  sql: Sql,
  runNum: number,
  { pattern, longest }: LooseWords,
): Promise<FoundChunk | undefined> {
  const { rows } = await sql.query<FoundChunk>(
    `select id, chunk_index, text, start_offset as start, end_offset as "end", places, metadata
     from chunks
     where run_num = $1
       and case when strpos(text, $3) > 0 then text ~ $2 else false end
     order by chunk_index
     limit 1`,
    [runNum, pattern, longest],
  );
  return rows[0];
}

/** A unit of a document's text, where no chunk has the words as a whole. */
export type FoundUnit = Pick<TextUnit, "text" | "start" | "places" | "heading_path">;

/** The first unit of the run's text that has the words with any white space between them. */
export async function findUnitLike(
  sql: Sql,
  runNum: number,
  { pattern, longest }: LooseWords,
): Promise<FoundUnit | undefined> {
  const { rows } = await sql.query<{ unit: FoundUnit }>(
    `select entry.unit
     from text_blocks block
     cross join lateral jsonb_array_elements(block.units) with ordinality as entry (unit, position)
     where block.run_num = $1
       and case
             when strpos(entry.unit ->> 'text', $3) > 0 then (entry.unit ->> 'text') ~ $2
             else false
           end
     order by block.first_index, entry.position
     limit 1`,
    [runNum, pattern, longest],
  );
  return rows[0]?.unit;
}
