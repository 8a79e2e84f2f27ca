/** All SQL that compares the names of stored objects with the rows that refer to them. */
import type { Sql } from "../pool.ts";

/** Returns those of the names that no raw file, user's file, run or upload in progress has. */
export async function findUnnamed(sql: Sql, names: readonly string[]): Promise<string[]> {
  const { rows } = await sql.query<{ name: string }>(
    `select object.name
     from unnest($1::text[]) object(name)
     where not exists (
         select from raw_files file where file.object_key = object.name
       )
       and not exists (
         select from pipeline_runs run where run.object_key = object.name and not run.object_purged
       )
       and not exists (
         select from openai_files held where held.object_key = object.name
       )
       and not exists (
         select from upload_intents intent where intent.object_key = object.name
       )`,
    [names],
  );
  return rows.map((row) => row.name);
}

/**
 * Returns the object names that rows have, after `after` and up to `to` (null: to the end), in byte order.
 * Leaves out what is being deleted, because its objects are deleted before its rows.
 */
export async function findNamed(sql: Sql, after: string, to: string | null): Promise<string[]> {
  const { rows } = await sql.query<{ object_key: string }>(
    `select object_key
     from (
       select file.object_key
       from raw_files file
       join spaces space on space.id = file.space_id
       left join documents document on document.id = file.document_id
       left join folders folder on folder.id = document.folder_id
       where file.object_key is not null
         and file.deleted_at is null
         and document.deleted_at is null
         and folder.deleted_at is null
         and space.deleted_at is null
       union
       select held.object_key
       from openai_files held
       union
       select run.object_key
       from pipeline_runs run
       join spaces space on space.id = run.space_id
       join documents document on document.id = run.document_id
       left join folders folder on folder.id = document.folder_id
       where not run.text_purged
         and document.deleted_at is null
         and folder.deleted_at is null
         and space.deleted_at is null
     ) named
     where object_key > $1
       and ($2::text is null or object_key <= $2)
     order by object_key`,
    [after, to],
  );
  return rows.map((row) => row.object_key);
}

export interface NamedObject {
  readonly name: string;
  readonly document_id: string | null;
  /** `version`: a run of the document whose text is kept. */
  readonly kind: "file" | "version";
  /** The id of the raw file or of the run. */
  readonly id: string;
}

/** Returns what has the names, ordered by name; the file if it and a version of its document have one. */
export async function findOwnersOfObjects(sql: Sql, names: readonly string[]): Promise<NamedObject[]> {
  const { rows } = await sql.query<NamedObject>(
    `select distinct on (name) *
     from (
       select object_key as name, document_id, 'file' as kind, id
       from raw_files
       where object_key = any($1)
         and deleted_at is null
       union all
       select object_key, document_id, 'version', id
       from pipeline_runs
       where object_key = any($1)
         and not text_purged
     ) named
     order by name, kind, id`,
    [names],
  );
  return rows;
}

export interface StoredFile {
  readonly id: string;
  readonly document_id: string | null;
  readonly object_key: string;
  /** The hash of the plaintext, in hex; null if it was never stored. */
  readonly sha256: string | null;
}

/** Counts the raw files that {@link listStoredFiles} lists. */
export async function countStoredFiles(sql: Sql, organizationId: string): Promise<number> {
  const { rows } = await sql.query<{ count: number }>(
    `select count(*)::int as count
     from raw_files
     where organization_id = $1
       and object_key is not null
       and deleted_at is null`,
    [organizationId],
  );
  return rows[0]!.count;
}

/** Returns at most `limit` raw files of the organization with content, not deleted, by id after `after`. */
export async function listStoredFiles(
  sql: Sql,
  organizationId: string,
  { after, limit }: { after: string | null; limit: number },
): Promise<StoredFile[]> {
  const { rows } = await sql.query<StoredFile>(
    `select id, document_id, object_key, sha256
     from raw_files
     where organization_id = $1
       and object_key is not null
       and deleted_at is null
       and ($2::uuid is null or id > $2)
     order by id
     limit $3`,
    [organizationId, after, limit],
  );
  return rows;
}
