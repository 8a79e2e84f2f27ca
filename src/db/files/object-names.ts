/** All SQL that compares the names of stored objects with the rows that name them. */
import type { Sql } from "../pool.ts";

/** What is being deleted loses its objects before its rows, and is left out. */
const LIVES = "d.deleted_at is null and o.deleted_at is null and s.deleted_at is null";
const NAMED = `(
  select f.object_key from raw_files f join spaces s on s.id = f.space_id left join documents d on d.id = f.document_id left join folders o on o.id = d.folder_id
  where f.object_key is not null and f.deleted_at is null and ${LIVES}
  union select r.object_key from pipeline_runs r join spaces s on s.id = r.space_id join documents d on d.id = r.document_id left join folders o on o.id = d.folder_id
  where not r.text_purged and ${LIVES})`;

/** Those of the names that no raw file, no run and no upload under way has. */
export async function findUnnamed(sql: Sql, names: readonly string[]): Promise<string[]> {
  const { rows } = await sql.query<{ name: string }>(
    `select n.name from unnest($1::text[]) n(name)
     where not exists (select from raw_files f where f.object_key = n.name)
       and not exists (select from pipeline_runs r where r.object_key = n.name and not r.object_purged)
       and not exists (select from upload_intents i where i.object_key = n.name)`,
    [names],
  );
  return rows.map((row) => row.name);
}

/** Names of objects that rows have, behind `after` and up to `to` (null: to the end), in byte order. */
export async function findNamed(sql: Sql, after: string, to: string | null): Promise<string[]> {
  const { rows } = await sql.query<{ object_key: string }>(
    `select object_key from ${NAMED} named where object_key > $1 and ($2::text is null or object_key <= $2) order by object_key`,
    [after, to],
  );
  return rows.map((row) => row.object_key);
}

export interface NamedObject {
  readonly name: string;
  readonly document_id: string | null;
  /** What names it: a raw file, or a version that is kept. */
  readonly kind: "file" | "version";
  /** Of the raw file or of the run. */
  readonly id: string;
}

/** What has the names, in their order; of a file that is a document's current version too, the file. */
export async function findOwnersOfObjects(sql: Sql, names: readonly string[]): Promise<NamedObject[]> {
  const { rows } = await sql.query<NamedObject>(
    `select distinct on (name) * from (
       select object_key as name, document_id, 'file' as kind, id from raw_files where object_key = any($1) and deleted_at is null
       union all select object_key, document_id, 'version', id from pipeline_runs where object_key = any($1) and not text_purged) named
     order by name, kind, id`,
    [names],
  );
  return rows;
}

export interface StoredFile {
  readonly id: string;
  readonly document_id: string | null;
  readonly object_key: string;
  /** Of the plaintext, in hex; null where nobody noted it. */
  readonly sha256: string | null;
}

export async function countStoredFiles(sql: Sql, organizationId: string): Promise<number> {
  const query =
    "select count(*)::int as count from raw_files where organization_id = $1 and object_key is not null and deleted_at is null";
  return (await sql.query<{ count: number }>(query, [organizationId])).rows[0]!.count;
}

/** Raw files of the organization that live and have content, behind `after` by their ids. */
export async function listStoredFiles(
  sql: Sql,
  organizationId: string,
  { after, limit }: { after: string | null; limit: number },
): Promise<StoredFile[]> {
  const { rows } = await sql.query<StoredFile>(
    `select id, document_id, object_key, sha256 from raw_files
     where organization_id = $1 and object_key is not null and deleted_at is null and ($2::uuid is null or id > $2) order by id limit $3`,
    [organizationId, after, limit],
  );
  return rows;
}
