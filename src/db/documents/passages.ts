/** All SQL of what agents' tools read of documents: their names, and the published passages of one. */
import type { Passage } from "../../domain/work/turn.ts";
import type { Sql } from "../pool.ts";

export interface ReadScope {
  readonly spaceIds: readonly string[];
  /** Only documents in these folders or their descendants; null: in any folder. */
  readonly folderIds: readonly string[] | null;
}

/**
 * Defines `visible`, the published documents in the spaces `$1` and folders `$2`. Shared, so that both tools
 * see the same documents. A document in a deleted folder is deleted with it.
 */
export const VISIBLE = `with recursive inside as (
       select id
       from folders
       where id = any($2::uuid[])
         and deleted_at is null
       union
       select child.id
       from folders child
       join inside on child.parent_folder_id = inside.id
       where child.deleted_at is null
     ),
     visible as (
       select document.*
       from documents document
       where document.space_id = any($1::uuid[])
         and document.deleted_at is null
         and document.published_run_num is not null
         and ($2::uuid[] is null or document.folder_id in (select id from inside))
         and not exists (
           select
           from folders folder
           where folder.id = document.folder_id
             and folder.deleted_at is not null
         )
     )`;

export interface ListedDocument {
  readonly id: string;
  readonly name: string;
  readonly file_type: string;
  readonly updated_at: Date;
  readonly total: number;
}

/** Lists the documents of the scope, newest first. `nameContains` ignores case. */
export async function listKnownDocuments(
  sql: Sql,
  scope: ReadScope,
  filter: { nameContains: string | null; limit: number; offset: number },
): Promise<ListedDocument[]> {
  const { rows } = await sql.query<ListedDocument>(
    `${VISIBLE}
     select id,
            name,
            file_type,
            updated_at,
            count(*) over () as total
     from visible
     where $3::text is null
        or strpos(lower(name), lower($3)) > 0
     order by created_at desc, id desc
     limit $4
     offset $5`,
    [scope.spaceIds, scope.folderIds, filter.nameContains, filter.limit, filter.offset],
  );
  return rows;
}

export interface KnownDocument {
  readonly id: string;
  readonly space_id: string;
  readonly name: string;
  readonly chunk_count: number;
  readonly passages: Passage[];
}

/** Returns passages of one document from chunk `fromChunk` on; undefined if it is out of the scope. */
export async function readKnownDocument(
  sql: Sql,
  scope: ReadScope,
  documentId: string,
  range: { fromChunk: number; limit: number },
): Promise<KnownDocument | undefined> {
  const { rows } = await sql.query<KnownDocument>(
    `${VISIBLE}
     select document.id, document.space_id, document.name,
            (
              select count(*)
              from chunks chunk
              where chunk.run_num = document.published_run_num
            ) as chunk_count,
            coalesce((
              select jsonb_agg(jsonb_build_object(
                'chunk_id', passage.id,
                'document_id', document.id,
                'document_name', document.name,
                'chunk_index', passage.chunk_index,
                'page', passage.page_start,
                'text', passage.text
              ) order by passage.chunk_index)
              from (
                select *
                from chunks chunk
                where chunk.run_num = document.published_run_num
                  and chunk.chunk_index >= $4
                order by chunk.chunk_index
                limit $5
              ) passage
            ), '[]') as passages
     from visible document
     where document.id = $3`,
    [scope.spaceIds, scope.folderIds, documentId, range.fromChunk, range.limit],
  );
  return rows[0];
}
