/** SQL that reads what callers are shown of the chunks that a search found. */
import type { FileType } from "../../domain/file-type.ts";
import type { PackedPlaces } from "../../domain/locations/packed.ts";
import type { ChunkMetadata } from "../../domain/text-unit.ts";
import type { Sql } from "../pool.ts";
import { type ChunkKey, type SpaceRef, keyColumns } from "./scope.ts";

export interface ShownChunk extends ChunkKey {
  readonly chunk_id: string;
  readonly document_id: string;
  readonly space_id: string;
  readonly document_name: string;
  readonly file_type: FileType;
  /** The names of the folders from the root, joined by a slash; null at the root. */
  readonly folder_path: string | null;
  readonly text: string;
  readonly page_start: number | null;
  readonly page_end: number | null;
  readonly metadata: ChunkMetadata;
  /** Null in what versions before 0.9.0 stored. */
  readonly start: number | null;
  readonly end: number | null;
  readonly places: PackedPlaces | null;
}

/** Reads the chunks with runs `$1` and indexes `$2` in the space `$3`. */
const READ_HITS = `
     with recursive hit as (
       select wanted.position,
              chunk.run_num,
              chunk.chunk_index,
              chunk.id as chunk_id,
              document.id as document_id,
              document.space_id,
              document.name as document_name,
              document.file_type,
              document.folder_id,
              chunk.text,
              chunk.page_start,
              chunk.page_end,
              chunk.metadata,
              chunk.start_offset,
              chunk.end_offset,
              chunk.places
       from unnest($1::int[], $2::int[]) with ordinality wanted(run_num, chunk_index, position)
       join chunks chunk
         on chunk.run_num = wanted.run_num
        and chunk.chunk_index = wanted.chunk_index
       join documents document
         on document.id = chunk.document_id
        and document.published_run_num = chunk.run_num
        and document.space_id = $3
        and document.deleted_at is null
     ),
     ancestor as (
       select folder.id as leaf,
              folder.name,
              folder.parent_folder_id,
              1 as depth,
              folder.deleted_at
       from folders folder
       where folder.id in (select folder_id from hit)
       union all
       select ancestor.leaf,
              parent.name,
              parent.parent_folder_id,
              ancestor.depth + 1,
              parent.deleted_at
       from ancestor
       join folders parent on parent.id = ancestor.parent_folder_id
     ),
     path as (
       select leaf,
              string_agg(name, '/' order by depth desc) as folder_path
       from ancestor
       group by leaf
       having count(deleted_at) = 0
     )
     select hit.run_num,
            hit.chunk_index,
            hit.chunk_id,
            hit.document_id,
            hit.space_id,
            hit.document_name,
            hit.file_type,
            path.folder_path,
            hit.text,
            hit.page_start,
            hit.page_end,
            hit.metadata,
            hit.start_offset as start,
            hit.end_offset as "end",
            hit.places
     from hit
     left join path on path.leaf = hit.folder_id
     where hit.folder_id is null
        or path.leaf is not null
     order by hit.position`;

/** Returns the chunks in the given order, without those that are not published or are deleted. */
export async function readHits(sql: Sql, space: SpaceRef, keys: readonly ChunkKey[]): Promise<ShownChunk[]> {
  if (keys.length === 0) return [];
  const { rows } = await sql.query<ShownChunk>({
    name: "search.read-hits",
    text: READ_HITS,
    values: [...keyColumns(keys), space.id],
  });
  return rows;
}

/** Returns the texts of the chunks, in any order. */
export async function readTexts(
  sql: Sql,
  keys: readonly ChunkKey[],
): Promise<(ChunkKey & { readonly text: string })[]> {
  if (keys.length === 0) return [];
  const { rows } = await sql.query<ChunkKey & { text: string }>({
    name: "search.read-texts",
    text: `select chunk.run_num, chunk.chunk_index, chunk.text
           from unnest($1::int[], $2::int[]) wanted(run_num, chunk_index)
           join chunks chunk
             on chunk.run_num = wanted.run_num
            and chunk.chunk_index = wanted.chunk_index`,
    values: keyColumns(keys),
  });
  return rows;
}
