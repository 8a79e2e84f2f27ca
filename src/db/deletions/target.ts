/** All SQL that finds and counts what is left of a deletion's target. */
import { noteTenantEvents } from "../events/noted.ts";
import type { Sql } from "../pool.ts";
import { type DeletionKind, hideDocuments } from "./accept.ts";
import type { Deletion } from "./purge.ts";

/** Reads at most `$2` documents that belong to the target `$1`. */
const DOCUMENTS_OF: Readonly<Record<DeletionKind, string>> = {
  document: `select id, deleted_at
             from documents
             where id = $1
             order by id
             limit $2`,
  raw_file: `select id, deleted_at
             from documents
             where id = (select document_id from raw_files where id = $1)
             order by id
             limit $2`,
  folder: `with recursive tree as (
             select $1::uuid as id
             union all
             select child.id
             from folders child
             join tree on tree.id = child.parent_folder_id
           )
           select id, deleted_at
           from documents
           where folder_id in (select id from tree)
           order by id
           limit $2`,
  space: `select id, deleted_at
          from documents
          where space_id = $1
          order by id
          limit $2`,
};

/** Returns at most `limit` documents of the target, and marks them as deleted if they are not yet. */
export async function takeDocuments(
  sql: Sql,
  organizationNum: number,
  deletion: Deletion,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql.query<{ id: string; deleted_at: Date | null }>(DOCUMENTS_OF[deletion.kind], [
    deletion.target_id,
    limit,
  ]);
  const unmarked = rows.filter((row) => row.deleted_at === null).map((row) => row.id);
  if (unmarked.length > 0) {
    const hidden = await hideDocuments(sql, organizationNum, unmarked);
    if (deletion.kind === "folder") await tellDeleted(sql, deletion, hidden);
  }
  return rows.map((row) => row.id);
}

/** Writes an event for each document that goes with its folder. Nobody reaches what goes with a space. */
async function tellDeleted(sql: Sql, deletion: Deletion, documentIds: readonly string[]): Promise<void> {
  noteTenantEvents(sql);
  await sql.query(
    `insert into events (
       organization_id, type, space_id, resource_type, resource_id, actor_id, auth_method, data, audience
     )
     select document.organization_id,
            'document.deleted',
            document.space_id,
            'document',
            document.id,
            deletion.created_by,
            case when deletion.created_by is null then 'system' else 'jwt' end,
            jsonb_build_object('folder_id', document.folder_id, 'deleted_folder_id', deletion.target_id),
            'space'
     from documents document
     join deletions deletion on deletion.id = $1
     where document.id = any($2::uuid[])
     order by document.id`,
    [deletion.id, documentIds],
  );
}

/** The object of raw_files `file`; null if something else has it too, which then keeps it. */
const OWN_OBJECT = `case when not exists (
                      select from raw_files other
                      where other.object_key = file.object_key and other.id <> file.id
                    ) and not exists (
                      select from openai_files held where held.object_key = file.object_key
                    ) and not exists (
                      select from pipeline_runs run
                      join documents document on document.id = run.document_id and document.deleted_at is null
                      where run.object_key = file.object_key and not run.object_purged
                    ) then file.object_key end as object_key`;

/** Reads at most `$2` raw files of the target `$1` that have no document; null if a kind has none. */
const LOOSE_FILES_OF: Readonly<Record<DeletionKind, string | null>> = {
  document: null,
  folder: null,
  raw_file: `select file.id, ${OWN_OBJECT}
             from raw_files file
             where file.id = $1
               and file.document_id is null
             limit $2`,
  space: `select file.id, ${OWN_OBJECT}
          from raw_files file
          where file.space_id = $1
            and file.document_id is null
          limit $2`,
};

/** Returns at most `limit` raw files of the target without a document. `object_key` null: no object. */
export async function looseFiles(
  sql: Sql,
  deletion: Deletion,
  limit: number,
): Promise<Array<{ id: string; object_key: string | null }>> {
  const statement = LOOSE_FILES_OF[deletion.kind];
  if (statement === null) return [];
  const { rows } = await sql.query<{ id: string; object_key: string | null }>(statement, [
    deletion.target_id,
    limit,
  ]);
  return rows;
}

/** Counts what is left of the target `$1`: documents, raw files, folders, and chunks of a single document. */
const ROWS_LEFT_OF: Readonly<Record<DeletionKind, string>> = {
  document: `select (
               (select count(*) from documents where id = $1)
               + (select count(*) from chunks where document_id = $1)
             )::int as left`,
  raw_file: `select (
               (
                 select count(*)
                 from documents
                 where id = (select document_id from raw_files where id = $1)
               )
               + (select count(*) from raw_files where id = $1)
             )::int as left`,
  folder: `with recursive tree as (
             select $1::uuid as id
             union all
             select child.id
             from folders child
             join tree on tree.id = child.parent_folder_id
           )
           select (
             (select count(*) from documents where folder_id in (select id from tree))
             + (select count(*) from folders where id = $1 or parent_folder_id = $1)
           )::int as left`,
  space: `select (
            (select count(*) from documents where space_id = $1)
            + (select count(*) from raw_files where space_id = $1)
            + (select count(*) from folders where space_id = $1)
          )::int as left`,
};

/** Counts the rows that are left of the target; the deletion is complete if there are none. */
export async function countLeft(sql: Sql, deletion: Deletion): Promise<number> {
  const { rows } = await sql.query<{ left: number }>(ROWS_LEFT_OF[deletion.kind], [deletion.target_id]);
  return rows[0]!.left;
}
