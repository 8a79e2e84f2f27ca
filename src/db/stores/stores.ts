/** All SQL of vector stores: folders, with what `vector_stores` adds to some of them. */
import { type Reach, reachedSpaceIds } from "../../domain/tenancy/principal.ts";
import { parameters } from "../filter-sql.ts";
import type { Sql } from "../pool.ts";
import { type CursorPage, type CursorRequest, readCursorPage } from "./cursor.ts";

/** As clients ask for it. */
export interface StaticChunking {
  readonly max_chunk_size_tokens: number;
  readonly chunk_overlap_tokens: number;
}

export interface StoreRow {
  /** The folder's id. */
  readonly id: string;
  readonly space_id: string;
  readonly name: string;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly chunking: StaticChunking | null;
  readonly expires_after_days: number | null;
  readonly created_at: Date;
  readonly last_active_at: Date;
  readonly expires_at: Date | null;
  readonly is_expired: boolean;
  /** Whether it has a row of its own; else it is a folder that people made. */
  readonly is_listed: boolean;
}

const EXPIRES_AT = "store.last_active_at + make_interval(days => store.expires_after_days)";

const COLUMNS = `folder.id,
            folder.space_id,
            case when folder.name = store.folder_name then store.name else folder.name end as name,
            store.description,
            coalesce(store.metadata, '{}') as metadata,
            store.chunking,
            store.expires_after_days,
            coalesce(store.created_at, folder.created_at) as created_at,
            coalesce(store.last_active_at, folder.updated_at) as last_active_at,
            ${EXPIRES_AT} as expires_at,
            coalesce(store.expired_at is not null or ${EXPIRES_AT} <= now(), false) as is_expired,
            store.folder_id is not null as is_listed`;

/** Returns the store, which may be any folder in reach that is not deleted. */
export async function findStore(sql: Sql, reach: Reach, id: string): Promise<StoreRow | undefined> {
  const { rows } = await sql.query<StoreRow>({
    name: "stores.find",
    text: `select ${COLUMNS}
           from folders folder
           left join vector_stores store on store.folder_id = folder.id
           where folder.id = $2
             and folder.space_id = any($1::uuid[])
             and folder.deleted_at is null`,
    values: [reachedSpaceIds(reach), id],
  });
  return rows[0];
}

/** Returns a page of the folders in reach that were made as stores. */
export async function listStores(sql: Sql, reach: Reach, page: CursorRequest): Promise<CursorPage<StoreRow>> {
  return readCursorPage<StoreRow>(
    sql,
    {
      select: `select ${COLUMNS}
               from vector_stores store
               join folders folder on folder.id = store.folder_id`,
      where: "folder.space_id = any($1::uuid[]) and folder.deleted_at is null",
      createdAt: "store.created_at",
      id: "store.folder_id",
      params: parameters([reachedSpaceIds(reach)]),
    },
    page,
  );
}

interface NewStore {
  readonly folderId: string;
  readonly organizationId: string;
  readonly name: string;
  readonly folderName: string;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly chunking: StaticChunking | null;
  readonly expiresAfterDays: number | null;
}

/** Writes what the folder has as a store, in place of what it had. */
export async function writeStore(sql: Sql, store: NewStore): Promise<void> {
  await sql.query(
    `insert into vector_stores
       (folder_id, organization_id, name, folder_name, description, metadata, chunking, expires_after_days)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (folder_id) do update
     set name = excluded.name,
         folder_name = excluded.folder_name,
         description = excluded.description,
         metadata = excluded.metadata,
         chunking = excluded.chunking,
         expires_after_days = excluded.expires_after_days,
         last_active_at = now(),
         expired_at = null`,
    [
      store.folderId,
      store.organizationId,
      store.name,
      store.folderName,
      store.description,
      JSON.stringify(store.metadata),
      store.chunking === null ? null : JSON.stringify(store.chunking),
      store.expiresAfterDays,
    ],
  );
}

/** Notes that the store is used now. One that has expired stays so. */
export async function touchStore(sql: Sql, id: string): Promise<void> {
  await sql.query(
    `update vector_stores store
     set last_active_at = now()
     where folder_id = $1
       and expired_at is null
       and (expires_after_days is null or ${EXPIRES_AT} > now())`,
    [id],
  );
}

/** Keeps other transactions from adding files to the store until this one ends. */
export async function lockStoreFiles(sql: Sql, id: string): Promise<void> {
  await sql.query("select pg_advisory_xact_lock(hashtextextended('store files ' || $1::text, 0))", [id]);
}

/** Names that the parent's other folders have and that begin so. */
export async function siblingNames(
  sql: Sql,
  spaceId: string,
  parentFolderId: string | null,
  { prefix, except }: { readonly prefix: string; readonly except: string | null },
): Promise<Set<string>> {
  const { rows } = await sql.query<{ name: string }>(
    `select name
     from folders
     where space_id = $1
       and parent_folder_id is not distinct from $2
       and deleted_at is null
       and starts_with(name, $3)
       and id is distinct from $4
     limit 10000`,
    [spaceId, parentFolderId, prefix, except],
  );
  return new Set(rows.map((row) => row.name));
}

export interface FileCounts {
  readonly in_progress: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly total: number;
}

/** The status of a store's file, by pipeline_runs `run`, the latest of its document. */
export const FILE_STATUS = `case
              when run.status in ('completed', 'failed', 'cancelled') then run.status
              else 'in_progress'
            end`;

/** Counts of documents by {@link FILE_STATUS}. */
export const FILE_COUNTS = `count(*) filter (where run.status = 'completed')::int as completed,
            count(*) filter (where run.status = 'failed')::int as failed,
            count(*) filter (where run.status = 'cancelled')::int as cancelled,
            count(*) filter (where coalesce(run.status not in ('completed', 'failed', 'cancelled'), true))::int
              as in_progress,
            count(*)::int as total`;

export interface StoreContents extends FileCounts {
  readonly usage_bytes: number;
}

const NOTHING: StoreContents = {
  in_progress: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  total: 0,
  usage_bytes: 0,
};

/** Counts the documents of each of the folders and all below them. */
export async function countContents(
  sql: Sql,
  folderIds: readonly string[],
): Promise<(id: string) => StoreContents> {
  const { rows } = await sql.query<StoreContents & { id: string }>(
    `with recursive tree as (
       select id as root, id
       from folders
       where id = any($1::uuid[])
         and deleted_at is null
       union
       select tree.root, child.id
       from folders child
       join tree on child.parent_folder_id = tree.id
       where child.deleted_at is null
     )
     select tree.root as id,
            ${FILE_COUNTS},
            coalesce(sum(document.file_size) filter (where run.status = 'completed'), 0)::bigint as usage_bytes
     from tree
     join documents document
       on document.folder_id = tree.id
      and document.deleted_at is null
     left join pipeline_runs run on run.num = document.latest_run_num
     group by tree.root`,
    [folderIds],
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return (id) => byId.get(id) ?? NOTHING;
}
