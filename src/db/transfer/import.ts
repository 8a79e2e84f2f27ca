/** Writes what an archive holds, under its ids. Each function may be repeated: what is there stays. */
import type { ArchivedOrganization, Directory, Row } from "../../domain/archive.ts";
import { DomainError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { DEFAULT_CHUNKER, PRIORITY } from "../../domain/work/processing.ts";
import { type Database, type OrganizationRef, type Sql, inTransaction } from "../pool.ts";
import {
  AGENT_COLUMNS,
  FOLDER_COLUMNS,
  RECEIPT_KEY_COLUMNS,
  SPACE_COLUMNS,
  SPACE_MEMBER_COLUMNS,
  STORE_COLUMNS,
  USER_COLUMNS,
} from "./directory-columns.ts";

interface NewOrganization {
  readonly id: string;
  readonly archived: ArchivedOrganization;
  /** The operation of the import, whose report says from then on that the organization is its own. */
  readonly operationId: string;
}

/** Makes the organization and notes its number in the report. @returns undefined if id or name is taken. */
export async function insertOrganization(
  db: Database,
  { id, archived, operationId }: NewOrganization,
): Promise<OrganizationRef | undefined> {
  return inTransaction(db.maintenance, async (sql) => {
    const { name, max_key_lifetime_seconds: max, default_key_lifetime_seconds: usual } = archived;
    const { rows } = await sql.query<OrganizationRef>(
      `insert into organizations (id, name, max_key_lifetime_seconds, default_key_lifetime_seconds)
       values ($1, $2, $3, $4)
       on conflict do nothing
       returning id, num`,
      [id, name, max, usual],
    );
    if (rows[0] !== undefined)
      await sql.query(
        `update operations
         set report = report || jsonb_build_object('organization_num', $2::int)
         where id = $1`,
        [operationId, rows[0].num],
      );
    return rows[0];
  });
}

interface DirectoryPart {
  readonly part: Exclude<keyof Directory, "organization">;
  readonly columns: string;
  /** What is written into the columns, if that is not what the archive has. */
  readonly values?: string;
}

/** In the order in which rows refer to one another. */
const DIRECTORY_PARTS: readonly DirectoryPart[] = [
  { part: "users", columns: USER_COLUMNS },
  { part: "spaces", columns: SPACE_COLUMNS },
  { part: "space_members", columns: SPACE_MEMBER_COLUMNS },
  { part: "folders", columns: FOLDER_COLUMNS },
  { part: "vector_stores", columns: STORE_COLUMNS },
  { part: "agents", columns: AGENT_COLUMNS },
  {
    part: "receipt_keys",
    columns: RECEIPT_KEY_COLUMNS,
    values: RECEIPT_KEY_COLUMNS.replace("retired_at", "coalesce(retired_at, now())"),
  },
];

/** Writes users, spaces, roles, folders, agents. @throws `conflict` for a user of another organization. */
export async function insertDirectory(sql: Sql, organizationId: string, directory: Directory): Promise<void> {
  for (const { part, columns, values = columns } of DIRECTORY_PARTS)
    await sql.query(
      `insert into ${part} (organization_id, ${columns})
       select $1, ${values}
       from jsonb_populate_recordset(null::${part}, $2)
       on conflict do nothing`,
      [organizationId, JSON.stringify(directory[part])],
    );
  const { rows } = await sql.query<{ count: number }>(
    "select count(*)::int as count from users where organization_id = $1",
    [organizationId],
  );
  if (rows[0]!.count !== directory.users.length)
    throw new DomainError("conflict", "A user of the archive belongs to another organization here.");
}

/** Whether an earlier step has written the file. */
export async function isThere(
  sql: Sql,
  organizationId: string,
  table: "raw_files" | "openai_files",
  id: string,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `select
     from ${table}
     where organization_id = $1
       and id = $2`,
    [organizationId, id],
  );
  return rowCount === 1;
}

interface ImportedFile {
  readonly organizationId: string;
  readonly rawFile: Row;
  readonly objectKey: string | null;
  readonly documentId: string | null;
}

/** Writes a file, and deletes the intent of its object: the row keeps the object from then on. */
export async function insertRawFile(
  sql: Sql,
  { organizationId, rawFile, objectKey, documentId }: ImportedFile,
): Promise<void> {
  await sql.query(
    `insert into raw_files (
       organization_id, id, space_id, path, size, content_type, sha256,
       object_key, document_id, created_by, created_at, updated_at
     )
     select $1, id, space_id, path, size, content_type, sha256,
            $3, $4, created_by, created_at, updated_at
     from jsonb_populate_record(null::raw_files, $2)
     on conflict do nothing`,
    [organizationId, JSON.stringify(rawFile), objectKey, documentId],
  );
  if (objectKey !== null) await sql.query("delete from upload_intents where object_key = $1", [objectKey]);
}

interface ImportedDocument {
  readonly organizationId: string;
  readonly document: Row;
  /** Null if the archive has no chunks of it, so that it goes through the whole pipeline. */
  readonly run: Row | null;
  readonly objectKey: string;
  readonly embeddingModel: string;
}

/** $1 organization, $2 document, $3 run or null, $4 new run, $5 object, $6 model, $7 priority, $8 chunker. */
const INSERT_DOCUMENT = `
  with given as (
    select archived.*
    from jsonb_populate_record(null::documents, $2) archived
  ), before as (
    select archived.*
    from jsonb_populate_record(null::pipeline_runs, coalesce($3::jsonb, '{}')) archived
  ), run as (
    insert into pipeline_runs (
      id, organization_id, space_id, space_num, document_id, version,
      trigger, priority, parsed, chunked, progress,
      object_key, file_name, file_type, file_size,
      parser_name, parser_version, chunker_name, chunker_config,
      embedding_model,
      page_count, chunk_count, warnings, created_by
    )
    select $4, $1, space.id, space.num, given.id, 1,
           case when $3 is null then 'upload' else 'restore' end,
           $7, $3 is not null, $3 is not null,
           case when $3 is null then 0 else 0.5 end,
           $5, given.name, given.file_type, given.file_size,
           before.parser_name, before.parser_version,
           coalesce(before.chunker_name, $8), coalesce(before.chunker_config, '{}'),
           case when $3 is not null then $6 end,
           before.page_count, before.chunk_count, coalesce(before.warnings, '[]'), given.created_by
    from given
    join spaces space on space.id = given.space_id
    cross join before
    returning num, space_num
  )
  insert into documents (id, organization_id, space_id, space_num, folder_id,
    name, file_type, file_size, content_type,
    metadata, extracted, created_by, created_at, updated_at,
    run_count, latest_run_num)
  select given.id, $1, given.space_id, run.space_num, given.folder_id,
         given.name, given.file_type, given.file_size, given.content_type,
         given.metadata, given.extracted, given.created_by, given.created_at, given.updated_at,
         1, run.num
  from given
  cross join run
  returning latest_run_num as num`;

/** Writes the document with a queued run; archived chunks have only to be published. @returns its number. */
export async function insertDocument(
  sql: Sql,
  { organizationId, document, run, objectKey, embeddingModel }: ImportedDocument,
): Promise<number> {
  const { rows } = await sql.query<{ num: number }>(INSERT_DOCUMENT, [
    organizationId,
    JSON.stringify(document),
    run === null ? null : JSON.stringify(run),
    newId(),
    objectKey,
    embeddingModel,
    PRIORITY.batch,
    DEFAULT_CHUNKER,
  ]);
  return rows[0]!.num;
}

/** Keeps vectors, as Postgres prints them, under their texts' hashes: equal texts are embedded once. */
export async function keepVectors(
  sql: Sql,
  organizationId: string,
  modelNum: number,
  kept: ReadonlyArray<{ hash: Buffer; vector: string }>,
): Promise<void> {
  await sql.query(
    `insert into embedding_cache (organization_id, model_num, content_hash, embedding)
     select distinct on (given.hash)
            $1::uuid,
            $2::smallint,
            given.hash,
            given.vector::halfvec
     from unnest($3::bytea[], $4::text[]) given (hash, vector)
     on conflict do nothing`,
    [organizationId, modelNum, kept.map(({ hash }) => hash), kept.map(({ vector }) => vector)],
  );
}
