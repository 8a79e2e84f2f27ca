/** The only SQL that turns numbers of chunks into what a caller is shown. */
import type { FileType } from "../../domain/file-type.ts";
import type { Sql } from "../pool.ts";
import { type ChunkKey, type SpaceRef, keyColumns } from "./scope.ts";

export interface ShownChunk extends ChunkKey {
  readonly chunk_id: string;
  readonly document_id: string;
  readonly document_name: string;
  readonly file_type: FileType;
  /** Names from the root, joined by a slash; null at the root. */
  readonly folder_path: string | null;
  readonly text: string;
  readonly page_start: number | null;
  readonly page_end: number | null;
  readonly metadata: Record<string, unknown>;
}

/** The chunks in the order given. A chunk whose run is not the published one of a live document of the space is left out. */
export async function readHits(sql: Sql, space: SpaceRef, keys: readonly ChunkKey[]): Promise<ShownChunk[]> {
  if (keys.length === 0) return [];
  const { rows } = await sql.query<ShownChunk>({
    name: "search.read-hits",
    text: `with recursive hit as (
        select k.n, c.run_num, c.chunk_index, c.id as chunk_id, d.id as document_id, d.name as document_name, d.file_type, d.folder_id,
          c.text, c.page_start, c.page_end, c.metadata
        from unnest($1::int[], $2::int[]) with ordinality k(run_num, chunk_index, n)
        join chunks c on c.run_num = k.run_num and c.chunk_index = k.chunk_index
        join documents d on d.id = c.document_id and d.published_run_num = c.run_num and d.space_id = $3 and d.deleted_at is null),
      up as (
        select f.id as leaf, f.name, f.parent_folder_id, 1 as depth, f.deleted_at from folders f where f.id in (select folder_id from hit)
        union all select u.leaf, f.name, f.parent_folder_id, u.depth + 1, f.deleted_at from up u join folders f on f.id = u.parent_folder_id),
      path as (select leaf, string_agg(name, '/' order by depth desc) as folder_path from up group by leaf having count(deleted_at) = 0)
      select h.run_num, h.chunk_index, h.chunk_id, h.document_id, h.document_name, h.file_type, p.folder_path, h.text, h.page_start, h.page_end, h.metadata
      from hit h left join path p on p.leaf = h.folder_id where h.folder_id is null or p.leaf is not null order by h.n`,
    values: [...keyColumns(keys), space.id],
  });
  return rows;
}

/** Texts of chunks, in no order. */
export async function readTexts(
  sql: Sql,
  keys: readonly ChunkKey[],
): Promise<(ChunkKey & { readonly text: string })[]> {
  if (keys.length === 0) return [];
  const { rows } = await sql.query<ChunkKey & { text: string }>({
    name: "search.read-texts",
    text: `select c.run_num, c.chunk_index, c.text from unnest($1::int[], $2::int[]) k(run_num, chunk_index)
           join chunks c on c.run_num = k.run_num and c.chunk_index = k.chunk_index`,
    values: keyColumns(keys),
  });
  return rows;
}
