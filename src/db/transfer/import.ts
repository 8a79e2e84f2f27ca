/** All SQL that writes what an archive holds, under the ids that it had. Each may be repeated. */
import type { ArchivedOrganization, Directory, Row } from "../../domain/archive.ts";
import { newId } from "../../domain/ids.ts";
import { DEFAULT_CHUNKER, PRIORITY } from "../../domain/work/processing.ts";
import { DomainError } from "../../domain/errors.ts";
import { type Database, type OrganizationKey, type Sql, inTransaction } from "../pool.ts";

interface NewOrganization {
  readonly id: string;
  readonly archived: ArchivedOrganization;
  /** Of the import, which knows the organization for its own from then on. */
  readonly operationId: string;
}

/** Notes its number in the operation's report, in the same transaction. @returns undefined where the id or the name is taken. */
export async function insertOrganization(
  db: Database,
  { id, archived, operationId }: NewOrganization,
): Promise<OrganizationKey | undefined> {
  return inTransaction(db.maintenance, async (sql) => {
    const {
      name,
      max_key_lifetime_seconds: max = null,
      default_key_lifetime_seconds: usual = null,
    } = archived;
    const { rows } = await sql.query<OrganizationKey>(
      `insert into organizations (id, name, max_key_lifetime_seconds, default_key_lifetime_seconds) values ($1, $2, $3, $4)
       on conflict do nothing returning id, num`,
      [id, name, max, usual],
    );
    if (rows[0] !== undefined)
      await sql.query(
        "update operations set report = report || jsonb_build_object('organization_num', $2::int) where id = $1",
        [operationId, rows[0].num],
      );
    return rows[0];
  });
}

const COLUMNS = {
  users: "id, email, confirmed_email, name, avatar_url, role, created_at, removed_at",
  spaces: "id, name, is_private, owner_id, created_at, updated_at",
  space_members: "space_id, user_id, role",
  folders: "id, space_id, parent_folder_id, name, from_system, created_by, created_at, updated_at",
  agents: `id, space_id, name, description, version, agent_type, model, system_prompt, temperature, max_tokens, reasoning_config, tool_attachments, is_public,
    show_citations, save_to_inbox, data_access_mode, allowed_folder_ids, from_system, conversation_count, created_by, last_edited_by, created_at, updated_at`,
} as const satisfies Partial<Record<keyof Directory, string>>;

/** @throws DomainError `conflict` where a user of the archive is there already. */
export async function insertDirectory(sql: Sql, organizationId: string, directory: Directory): Promise<void> {
  for (const [table, columns] of Object.entries(COLUMNS) as Array<[keyof typeof COLUMNS, string]>) {
    await sql.query(
      `insert into ${table} (organization_id, ${columns}) select $1, ${columns} from jsonb_populate_recordset(null::${table}, $2) on conflict do nothing`,
      [organizationId, JSON.stringify(directory[table])],
    );
  }
  const { rows } = await sql.query<{ count: number }>(
    "select count(*)::int as count from users where organization_id = $1",
    [organizationId],
  );
  if (rows[0]!.count !== directory.users.length)
    throw new DomainError("conflict", "A user of the archive belongs to another organization here.");
}

export async function isThere(sql: Sql, organizationId: string, rawFileId: string): Promise<boolean> {
  return (
    (
      await sql.query("select from raw_files where organization_id = $1 and id = $2", [
        organizationId,
        rawFileId,
      ])
    ).rowCount === 1
  );
}

interface ImportedFile {
  readonly organizationId: string;
  readonly rawFile: Row;
  readonly objectKey: string | null;
  readonly documentId: string | null;
}

/** Settles the intent of its object too. */
export async function insertRawFile(
  sql: Sql,
  { organizationId, rawFile, objectKey, documentId }: ImportedFile,
): Promise<void> {
  await sql.query(
    `insert into raw_files (organization_id, id, space_id, path, size, content_type, sha256, object_key, document_id, created_by, created_at, updated_at)
     select $1, id, space_id, path, size, content_type, sha256, $3, $4, created_by, created_at, updated_at from jsonb_populate_record(null::raw_files, $2) on conflict do nothing`,
    [organizationId, JSON.stringify(rawFile), objectKey, documentId],
  );
  if (objectKey !== null) await sql.query("delete from upload_intents where object_key = $1", [objectKey]);
}

interface ImportedDocument {
  readonly organizationId: string;
  readonly document: Row;
  /** Null: it goes through the whole pipeline. */
  readonly run: Row | null;
  readonly objectKey: string;
  readonly embeddingModel: string;
}

/** Writes the document with a queued run; where its chunks come with it the run has only to be published. @returns the run's number. */
export async function insertDocument(
  sql: Sql,
  { organizationId, document, run, objectKey, embeddingModel }: ImportedDocument,
): Promise<number> {
  const { rows } = await sql.query<{ num: number }>(
    `with given as (select d.* from jsonb_populate_record(null::documents, $2) d),
     before as (select r.* from jsonb_populate_record(null::pipeline_runs, coalesce($3::jsonb, '{}')) r),
     run as (
       insert into pipeline_runs (id, organization_id, space_id, space_num, document_id, version, trigger, priority, parsed, chunked, progress, object_key,
         file_name, file_type, file_size, parser_name, chunker_name, chunker_config, embedding_model, page_count, chunk_count, warnings, created_by)
       select $4, $1, s.id, s.num, g.id, 1, case when $3 is null then 'upload' else 'restore' end, ${PRIORITY.batch}, $3 is not null, $3 is not null, case when $3 is null then 0 else 0.5 end, $5,
         g.name, g.file_type, g.file_size, b.parser_name, coalesce(b.chunker_name, '${DEFAULT_CHUNKER}'), coalesce(b.chunker_config, '{}'), case when $3 is not null then $6 end,
         b.page_count, b.chunk_count, coalesce(b.warnings, '[]'), g.created_by
       from given g join spaces s on s.id = g.space_id cross join before b returning num, space_num)
     insert into documents (id, organization_id, space_id, space_num, folder_id, name, file_type, file_size, content_type, metadata, extracted, created_by, created_at, updated_at,
       run_count, latest_run_num)
     select g.id, $1, g.space_id, run.space_num, g.folder_id, g.name, g.file_type, g.file_size, g.content_type, g.metadata, g.extracted, g.created_by, g.created_at, g.updated_at, 1, run.num
     from given g cross join run returning latest_run_num as num`,
    [
      organizationId,
      JSON.stringify(document),
      run === null ? null : JSON.stringify(run),
      newId(),
      objectKey,
      embeddingModel,
    ],
  );
  return rows[0]!.num;
}

/** Vectors as Postgres wrote them, kept by content. */
export async function keepVectors(
  sql: Sql,
  organizationId: string,
  modelNum: number,
  kept: ReadonlyArray<{ hash: Buffer; vector: string }>,
): Promise<void> {
  await sql.query(
    `insert into embedding_cache (organization_id, model_num, content_hash, embedding)
     select distinct on (u.hash) $1::uuid, $2::smallint, u.hash, u.vector::halfvec from unnest($3::bytea[], $4::text[]) u(hash, vector) on conflict do nothing`,
    [organizationId, modelNum, kept.map(({ hash }) => hash), kept.map(({ vector }) => vector)],
  );
}
