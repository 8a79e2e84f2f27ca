/** All SQL of deletions as they are accepted: the mark after which nobody sees the thing any more, and the outbox row of its workflow. */
import type pg from "pg";
import { newId } from "../../domain/ids.ts";
import { type Taken, takeInTurn } from "../outbox/start-order.ts";
import type { Sql } from "../pool.ts";
import { endActiveRun } from "../runs/requests.ts";

export type DeletionKind = "document" | "raw_file" | "folder" | "space";

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
    "insert into deletions (id, organization_id, kind, target_id, created_by) values ($1, $2, $3, $4, $5)",
    [newId(), organization.id, kind, targetId, userId],
  );
}

/** Deletes the record with its chunks and search entries; its raw file and its cached embeddings stay. @returns false where it is deleted already. */
export async function markDocumentDeleted(sql: Sql, accepted: Accepted): Promise<boolean> {
  const marked = await hideDocuments(sql, accepted.organization.num, [accepted.targetId]);
  if (marked === 0) return false;
  await sql.query("update raw_files set document_id = null where document_id = $1 and deleted_at is null", [
    accepted.targetId,
  ]);
  await writeOutbox(sql, "document", accepted);
  return true;
}

/** Deletes the file, the record derived from it, and what only it kept in the embedding cache. @returns false where it is deleted already. */
export async function markRawFileDeleted(sql: Sql, accepted: Accepted): Promise<boolean> {
  const { rows } = await sql.query<{ document_id: string | null }>(
    "update raw_files set deleted_at = now() where id = $1 and deleted_at is null returning document_id",
    [accepted.targetId],
  );
  if (!rows[0]) return false;
  if (rows[0].document_id !== null)
    await hideDocuments(sql, accepted.organization.num, [rows[0].document_id]);
  await writeOutbox(sql, "raw_file", accepted);
  return true;
}

/** Marks the folder and all below it, in one statement over folders alone: what lies in them is gone with them at once. */
export async function markFolderDeleted(sql: Sql, accepted: Accepted): Promise<boolean> {
  const { rowCount } = await sql.query(
    `with recursive tree as (
       select id from folders where id = $1 and deleted_at is null
       union all select f.id from folders f join tree on f.parent_folder_id = tree.id where f.deleted_at is null)
     update folders set deleted_at = now() where id in (select id from tree)`,
    [accepted.targetId],
  );
  if (rowCount === 0) return false;
  await writeOutbox(sql, "folder", accepted);
  return true;
}

/** Marks the space; nobody reaches it from now on. */
export async function markSpaceDeleted(sql: Sql, accepted: Accepted): Promise<boolean> {
  const { rowCount } = await sql.query(
    "update spaces set deleted_at = now() where id = $1 and deleted_at is null",
    [accepted.targetId],
  );
  if (rowCount === 0) return false;
  await writeOutbox(sql, "space", accepted);
  return true;
}

/**
 * Marks documents deleted, takes them out of search and out of the space's statistics, and ends their runs.
 * @returns how many were not marked before.
 */
export async function hideDocuments(
  sql: Sql,
  organizationNum: number,
  documentIds: readonly string[],
): Promise<number> {
  const { rows } = await sql.query<{ id: string }>(
    `with locked as (select id from documents where id = any($2::uuid[]) and deleted_at is null order by id for update),
     marked as (
       update documents d set deleted_at = now() from locked where d.id = locked.id returning d.id, d.space_num, d.published_run_num, d.latest_run_num),
     hidden as (
       insert into hidden_runs (organization_num, space_num, run_num, reason)
       select $1, m.space_num, r.num, 'deleted' from marked m join pipeline_runs r on r.document_id = m.id and r.chunked
       on conflict (space_num, run_num) do update set reason = 'deleted'),
     statistics as (
       insert into space_statistics (organization_num, space_num, chunks, terms, embedding_model)
       select $1, m.space_num, -sum(r.chunk_count), -sum(r.term_count), r.embedding_model from marked m join pipeline_runs r on r.num = m.published_run_num group by m.space_num, r.embedding_model)
     select id from marked`,
    [organizationNum, documentIds],
  );
  for (const { id } of rows) await endActiveRun(sql, id, "cancelled", "The document was deleted.");
  return rows.length;
}

type PendingDeletion = Taken & { readonly kind: DeletionKind };

/** Deletions whose turn it is, each leased to the caller; with an organization, only its own. */
export async function takePendingDeletions(
  system: pg.Pool,
  limit: number,
  organizationId: string | null = null,
): Promise<PendingDeletion[]> {
  return takeInTurn<{ kind: DeletionKind }>(system, "deletions", { limit, organizationId });
}
