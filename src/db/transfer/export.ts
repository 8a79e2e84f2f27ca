/** All SQL that reads an organization for an archive, page by page. What is deleted is left out. */
import type { ArchivedBlock, ArchivedChunk, Directory, Row } from "../../domain/archive.ts";
import type { Sql } from "../pool.ts";
import { WARNINGS_OF_TEXT } from "../runs/refused-chunks.ts";

/** Of the organization $1. */
const LIVE_SPACES = "(select id from spaces where organization_id = $1 and deleted_at is null)";

/** Everything but documents and files. Subjects are left out: another instance may have another issuer. */
export async function readDirectory(sql: Sql, organizationId: string): Promise<Directory> {
  const list = (query: string): string => `coalesce((select jsonb_agg(to_jsonb(x)) from (${query}) x), '[]')`;
  const { rows } = await sql.query<{ directory: Directory }>(
    `select jsonb_build_object(
       'organization', jsonb_build_object('name', o.name, 'max_key_lifetime_seconds', o.max_key_lifetime_seconds, 'default_key_lifetime_seconds', o.default_key_lifetime_seconds),
       'users', ${list("select id, email, confirmed_email, name, avatar_url, role, created_at, removed_at from users where organization_id = $1")},
       'spaces', ${list("select id, name, is_private, owner_id, created_at, updated_at from spaces where organization_id = $1 and deleted_at is null")},
       'space_members', ${list(`select space_id, user_id, role from space_members where space_id in ${LIVE_SPACES}`)},
       'folders', ${list(`select id, space_id, parent_folder_id, name, from_system, created_by, created_at, updated_at from folders where deleted_at is null and space_id in ${LIVE_SPACES}`)},
       'agents', ${list(`select id, space_id, name, description, version, agent_type, model, system_prompt, temperature, max_tokens, reasoning_config, tool_attachments, is_public,
         show_citations, save_to_inbox, data_access_mode, allowed_folder_ids, from_system, conversation_count, created_by, last_edited_by, created_at, updated_at
         from agents where deleted_at is null and space_id in ${LIVE_SPACES}`)}) as directory
     from organizations o where o.id = $1`,
    [organizationId],
  );
  return rows[0]!.directory;
}

const RAW_FILE = `jsonb_build_object('id', f.id, 'space_id', f.space_id, 'path', f.path, 'size', f.size, 'content_type', f.content_type, 'sha256', f.sha256,
  'created_by', f.created_by, 'created_at', f.created_at, 'updated_at', f.updated_at)`;

export interface ExportedFile {
  readonly raw_file: Row & { readonly id: string; readonly sha256: string | null };
  readonly object_key: string | null;
}

export interface ExportedDocument extends ExportedFile {
  readonly num: number;
  readonly document: Row & { readonly id: string };
  /** Of the published version, where it was made from the file as it is now. */
  readonly run_num: number | null;
  readonly space_num: number;
  readonly run: Row | null;
}

/** Documents of the organization with their file, behind `after`. */
export async function readDocuments(
  sql: Sql,
  organizationId: string,
  { after, limit }: { after: number; limit: number },
): Promise<ExportedDocument[]> {
  const { rows } = await sql.query<ExportedDocument>(
    `select d.num, d.space_num, f.object_key, ${RAW_FILE} as raw_file,
       jsonb_build_object('id', d.id, 'space_id', d.space_id, 'folder_id', d.folder_id, 'name', d.name, 'file_type', d.file_type, 'file_size', d.file_size,
         'content_type', d.content_type, 'metadata', d.metadata, 'extracted', d.extracted, 'created_by', d.created_by, 'created_at', d.created_at, 'updated_at', d.updated_at) as document,
       r.num as run_num,
       case when r.num is not null then jsonb_build_object('file_name', r.file_name, 'file_type', r.file_type, 'file_size', r.file_size, 'parser_name', r.parser_name, 'chunker_name', r.chunker_name,
         'chunker_config', r.chunker_config, 'page_count', r.page_count, 'chunk_count', r.chunk_count, 'warnings', ${WARNINGS_OF_TEXT}, 'created_by', r.created_by) end as run
     from documents d join spaces s on s.id = d.space_id and s.deleted_at is null
     join raw_files f on f.document_id = d.id and f.deleted_at is null and f.object_key is not null
     left join folders o on o.id = d.folder_id
     left join pipeline_runs r on r.num = d.published_run_num and r.object_key = f.object_key
     where d.organization_id = $1 and d.deleted_at is null and o.deleted_at is null and d.num > $2 order by d.num limit $3`,
    [organizationId, after, limit],
  );
  return rows;
}

export async function countDocuments(sql: Sql, organizationId: string): Promise<number> {
  const query =
    "select count(*)::int as count from documents d join spaces s on s.id = d.space_id and s.deleted_at is null where d.organization_id = $1 and d.deleted_at is null";
  return (await sql.query<{ count: number }>(query, [organizationId])).rows[0]!.count;
}

/** Files that belong to no document, and folders of paths, behind `after`. */
export async function readLooseFiles(
  sql: Sql,
  organizationId: string,
  { after, limit }: { after: string | null; limit: number },
): Promise<ExportedFile[]> {
  const { rows } = await sql.query<ExportedFile>(
    `select f.object_key, ${RAW_FILE} as raw_file from raw_files f where f.document_id is null and f.deleted_at is null and f.space_id in ${LIVE_SPACES}
       and ($2::uuid is null or f.id > $2) order by f.id limit $3`,
    [organizationId, after, limit],
  );
  return rows;
}

/** Chunks of a published run with their vectors, from `from` on. One that a provider refuses has none. */
export async function readChunks(
  sql: Sql,
  run: { run_num: number; space_num: number },
  from: number,
  limit: number,
): Promise<ArchivedChunk[]> {
  const { rows } = await sql.query<ArchivedChunk>(
    `select c.chunk_index, c.id, c.text, c.token_count, c.page_start, c.page_end, c.metadata, e.embedding::text as vector
     from chunks c left join embeddings e on e.space_num = $2 and e.run_num = c.run_num and e.chunk_index = c.chunk_index
     where c.run_num = $1 and c.chunk_index >= $3 and (e.embedding is not null or c.refused_by is not null) order by c.chunk_index limit $4`,
    [run.run_num, run.space_num, from, limit],
  );
  return rows;
}

/** The model of a published run's vectors; undefined where it has none. */
export async function readModel(
  sql: Sql,
  run: { run_num: number; space_num: number },
): Promise<{ name: string; dimensions: number } | undefined> {
  const { rows } = await sql.query<{ name: string; dimensions: number }>(
    "select m.name, m.dimensions from embeddings e join embedding_models m on m.num = e.model_num where e.space_num = $2 and e.run_num = $1 limit 1",
    [run.run_num, run.space_num],
  );
  return rows[0];
}

export async function readTextBlocks(
  sql: Sql,
  runNum: number,
  from: number,
  limit: number,
): Promise<ArchivedBlock[]> {
  const { rows } = await sql.query<ArchivedBlock>(
    "select first_index, unit_count, units from text_blocks where run_num = $1 and first_index >= $2 order by first_index limit $3",
    [runNum, from, limit],
  );
  return rows;
}
