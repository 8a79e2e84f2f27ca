/** All SQL that accepts deletions: marks the target, which hides it, and writes its outbox row. */
import { newId } from "../../domain/ids.ts";
import type { Sql } from "../pool.ts";
import { endActiveRuns } from "../runs/requests.ts";
import { markWebhooksOfSpaceDeleted } from "../webhooks/endings.ts";

export type DeletionKind = "document" | "raw_file" | "folder" | "space";

/** A deletion that a user, or the service (null), asked for. */
interface Accepted {
  readonly organization: { readonly id: string; readonly num: number };
  readonly userId: string | null;
  readonly targetId: string;
}

async function writeOutbox(
  sql: Sql,
  kind: DeletionKind,
  { organization, userId, targetId }: Accepted,
): Promise<void> {
  await sql.query(
    `insert into deletions (id, organization_id, kind, target_id, created_by)
     values ($1, $2, $3, $4, $5)`,
    [newId(), organization.id, kind, targetId, userId],
  );
}

/** Deletes documents with chunks and entries, not raw files. @returns the ids of those newly deleted. */
export async function markDocumentsDeleted(
  sql: Sql,
  { organization, userId, targetIds }: Omit<Accepted, "targetId"> & { readonly targetIds: readonly string[] },
): Promise<readonly string[]> {
  const marked = await hideDocuments(sql, organization.num, targetIds);
  if (marked.length === 0) return marked;
  await sql.query(
    `update raw_files
     set document_id = null
     where document_id = any($1::uuid[])
       and deleted_at is null`,
    [marked],
  );
  await sql.query(
    `insert into deletions (id, organization_id, kind, target_id, created_by)
     select accepted.id, $3, 'document', accepted.target_id, $4
     from unnest($1::uuid[], $2::uuid[]) accepted(id, target_id)`,
    [marked.map(() => newId()), marked, organization.id, userId],
  );
  return marked;
}

/** Deletes the file, its document, and cached embeddings only it uses. @returns false if it was deleted. */
export async function markRawFileDeleted(sql: Sql, accepted: Accepted): Promise<boolean> {
  const { rows } = await sql.query<{ document_id: string | null }>(
    `update raw_files
     set deleted_at = now()
     where id = $1
       and deleted_at is null
     returning document_id`,
    [accepted.targetId],
  );
  if (!rows[0]) return false;
  if (rows[0].document_id !== null)
    await hideDocuments(sql, accepted.organization.num, [rows[0].document_id]);
  await writeOutbox(sql, "raw_file", accepted);
  return true;
}

/** Does what {@link markRawFileDeleted} does for files with their documents, which the caller has locked. */
export async function markRawFilesDeleted(
  sql: Sql,
  { organization, userId, targetIds }: Omit<Accepted, "targetId"> & { readonly targetIds: readonly string[] },
): Promise<void> {
  const { rows } = await sql.query<{ id: string; document_id: string | null }>(
    `update raw_files
     set deleted_at = now()
     where id = any($1::uuid[])
       and deleted_at is null
     returning id, document_id`,
    [targetIds],
  );
  const documentIds = rows.flatMap((row) => row.document_id ?? []);
  if (documentIds.length > 0) await hideDocuments(sql, organization.num, documentIds);
  await sql.query(
    `insert into deletions (id, organization_id, kind, target_id, created_by)
     select accepted.id, $3, 'raw_file', accepted.target_id, $4
     from unnest($1::uuid[], $2::uuid[]) accepted(id, target_id)`,
    [rows.map(() => newId()), rows.map((row) => row.id), organization.id, userId],
  );
}

/** Deletes the folder and its descendants; marks only folders. @returns false if it was deleted already. */
export async function markFolderDeleted(sql: Sql, accepted: Accepted): Promise<boolean> {
  const { rowCount } = await sql.query(
    `with recursive tree as (
       select id
       from folders
       where id = $1
         and deleted_at is null
       union all
       select child.id
       from folders child
       join tree on tree.id = child.parent_folder_id
       where child.deleted_at is null
     )
     update folders
     set deleted_at = now()
     where id in (select id from tree)`,
    [accepted.targetId],
  );
  if (rowCount === 0) return false;
  await writeOutbox(sql, "folder", accepted);
  return true;
}

/** Deletes the space with its webhooks: nobody reaches it any more. @returns false if it was deleted. */
export async function markSpaceDeleted(sql: Sql, accepted: Accepted): Promise<boolean> {
  const { rowCount } = await sql.query(
    `update spaces
     set deleted_at = now()
     where id = $1
       and deleted_at is null`,
    [accepted.targetId],
  );
  if (rowCount === 0) return false;
  await markWebhooksOfSpaceDeleted(sql, accepted.targetId);
  await writeOutbox(sql, "space", accepted);
  return true;
}

/**
 * Marks documents as deleted, takes them out of search and of their space's statistics, and cancels their
 * runs. Idempotent.
 * @returns the ids of those that were not marked before.
 */
export async function hideDocuments(
  sql: Sql,
  organizationNum: number,
  documentIds: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `with locked as (
       select id
       from documents
       where id = any($2::uuid[])
         and deleted_at is null
       order by id
       for update
     ),
     marked as (
       update documents document
       set deleted_at = now()
       from locked
       where document.id = locked.id
       returning document.id, document.space_num, document.published_run_num, document.latest_run_num
     ),
     hidden as (
       insert into hidden_runs (organization_num, space_num, run_num, reason)
       select $1, marked.space_num, run.num, 'deleted'
       from marked
       join pipeline_runs run on run.document_id = marked.id and run.chunked
       on conflict (space_num, run_num) do update
       set reason = 'deleted'
     ),
     statistics as (
       insert into space_statistics (organization_num, space_num, chunks, terms, embedding_model)
       select $1, marked.space_num, -sum(run.chunk_count), -sum(run.term_count), run.embedding_model
       from marked
       join pipeline_runs run on run.num = marked.published_run_num
       group by marked.space_num, run.embedding_model
     )
     select id
     from marked`,
    [organizationNum, documentIds],
  );
  const marked = rows.map((row) => row.id);
  if (marked.length > 0) await endActiveRuns(sql, marked, "cancelled", "The document was deleted.");
  return marked;
}
