/** The only place with what agents' tools read of documents: their names, and the published passages of one. */
import type { Passage } from "../../domain/work/turn.ts";
import type { Sql } from "../pool.ts";

interface ReadScope {
  readonly spaceIds: readonly string[];
  /** Folders that narrow it, with all below them; null is no narrowing. */
  readonly folderIds: readonly string[] | null;
}

/** Published documents of the scope, as `visible`. A document is live where its folder is. */
const VISIBLE = `with recursive inside as (
    select id from folders where id = any($2::uuid[]) and deleted_at is null
    union select f.id from folders f join inside i on f.parent_folder_id = i.id where f.deleted_at is null),
  visible as (
    select d.* from documents d
    where d.space_id = any($1::uuid[]) and d.deleted_at is null and d.published_run_num is not null
      and ($2::uuid[] is null or d.folder_id in (select id from inside))
      and not exists (select from folders f where f.id = d.folder_id and f.deleted_at is not null))`;

export interface ListedDocument {
  readonly id: string;
  readonly name: string;
  readonly file_type: string;
  readonly updated_at: Date;
  readonly total: number;
}

/** Newest first. `nameContains` compares without case. */
export async function listKnownDocuments(
  sql: Sql,
  scope: ReadScope,
  filter: { nameContains: string | null; limit: number; offset: number },
): Promise<ListedDocument[]> {
  const { rows } = await sql.query<ListedDocument>(
    `${VISIBLE} select id, name, file_type, updated_at, count(*) over () as total from visible
     where $3::text is null or strpos(lower(name), lower($3)) > 0
     order by created_at desc, id desc limit $4 offset $5`,
    [scope.spaceIds, scope.folderIds, filter.nameContains, filter.limit, filter.offset],
  );
  return rows;
}

export interface KnownDocument {
  readonly name: string;
  readonly chunk_count: number;
  readonly passages: Passage[];
}

/** Passages of one document from `fromChunk` on, in order; undefined for a document that the scope does not hold. */
export async function readKnownDocument(
  sql: Sql,
  scope: ReadScope,
  documentId: string,
  range: { fromChunk: number; limit: number },
): Promise<KnownDocument | undefined> {
  const { rows } = await sql.query<{ name: string; chunk_count: number; passages: Passage[] }>(
    `${VISIBLE} select d.name, (select count(*) from chunks c where c.run_num = d.published_run_num) as chunk_count,
       coalesce((select jsonb_agg(jsonb_build_object('chunk_id', p.id, 'document_id', d.id, 'document_name', d.name, 'chunk_index', p.chunk_index,
           'page', p.page_start, 'text', p.text) order by p.chunk_index)
         from (select * from chunks c where c.run_num = d.published_run_num and c.chunk_index >= $4 order by c.chunk_index limit $5) p), '[]') as passages
     from visible d where d.id = $3`,
    [scope.spaceIds, scope.folderIds, documentId, range.fromChunk, range.limit],
  );
  return rows[0];
}
