/** All SQL that finds raw files by path, and the locks under which paths change. */
import type { FileAddress } from "../../domain/paths.ts";
import { parameters } from "../filter-sql.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import type { Sql } from "../pool.ts";

export interface RawFileRow {
  readonly id: string;
  readonly space_id: string;
  readonly path: string;
  /** Bytes; null for a path folder, and so are the next three. */
  readonly size: number | null;
  readonly content_type: string | null;
  readonly sha256: string | null;
  readonly object_key: string | null;
  readonly document_id: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const COLUMNS =
  "rf.id, rf.space_id, rf.path, rf.size, rf.content_type, rf.sha256, rf.object_key, rf.document_id, rf.created_at, rf.updated_at";
const TABLES =
  "raw_files rf left join documents d on d.id = rf.document_id left join folders f on f.id = d.folder_id";
/** A file is gone with the folder of its document, whose mark comes first. */
const LIVES = "rf.deleted_at is null and f.deleted_at is null";

const IS_EMPTY_FOLDER = `rf.object_key is null and not exists (
  select from raw_files below where below.space_id = rf.space_id and below.deleted_at is null
    and below.path collate "C" > rf.path || '/' and below.path collate "C" < rf.path || '0')`;

/** A page of the space's files and empty path folders whose path begins with `prefix`, newest first. */
export async function listRawFiles(
  sql: Sql,
  spaceId: string,
  prefix: string,
  page: PageRequest,
): Promise<Page<RawFileRow>> {
  const where = `rf.space_id = $1 and starts_with(rf.path collate "C", $2) and ${LIVES} and (rf.object_key is not null or ${IS_EMPTY_FOLDER})`;
  return readPage<RawFileRow>(
    sql,
    {
      columns: COLUMNS,
      from: TABLES,
      where,
      order: "rf.created_at desc, rf.id desc",
      params: parameters([spaceId, prefix]),
    },
    page,
  );
}

/** The file or path folder that the address means. */
export async function findRawFile(
  sql: Sql,
  { spaceId, path, namedPath, document }: FileAddress,
): Promise<RawFileRow | undefined> {
  const { rows } = await sql.query<RawFileRow>(
    `select ${COLUMNS} from ${TABLES}
     where rf.space_id = $1 and ${LIVES} and (rf.path collate "C" in ($2, $3) or (rf.document_id = $4 and d.name = $5 and rf.object_key is not null))
     order by rf.path = $2 desc, rf.path = $3 desc limit 1`,
    [spaceId, path, namedPath, document?.id ?? null, document?.name ?? null],
  );
  return rows[0];
}

/** Until the transaction ends no other one puts a file or folder at this path, and nobody moves paths of the space. */
export async function lockPath(sql: Sql, spaceId: string, path: string): Promise<void> {
  await sql.query(
    `select pg_advisory_xact_lock_shared(hashtextextended('paths ' || $1::text, 0)), pg_advisory_xact_lock(hashtextextended('path ' || $1::text || ' ' || $2::text, 0))`,
    [spaceId, path],
  );
}

/** Until the transaction ends nobody else puts or moves anything at any path of the space. */
export async function lockAllPaths(sql: Sql, spaceId: string): Promise<void> {
  await sql.query("select pg_advisory_xact_lock(hashtextextended('paths ' || $1::text, 0))", [spaceId]);
}

/**
 * Locks the file's document. Whoever changes a document and its file locks in this order, so that
 * they wait for each other and never in a circle.
 * @returns whether there is one and it lives.
 */
export async function lockDocumentOf(sql: Sql, file: Pick<RawFileRow, "document_id">): Promise<boolean> {
  if (file.document_id === null) return false;
  const { rows } = await sql.query<{ folder_id: string | null }>(
    "select folder_id from documents where id = $1 and deleted_at is null for update",
    [file.document_id],
  );
  const folderId = rows[0]?.folder_id ?? null;
  if (folderId === null) return rows.length === 1;
  const folder = await sql.query("select from folders where id = $1 and deleted_at is null for share", [
    folderId,
  ]);
  return folder.rowCount === 1;
}

/** What holds a path that the caller has locked. */
interface Occupant {
  readonly id: string;
  readonly document_id: string | null;
  readonly isFolder: boolean;
}

/**
 * The file or folder at a path that the caller has locked; with its document locked, where one lives. A deletion at the same time
 * is waited for: the answer says how it ended. A file that is gone with its document's folder gives up its path.
 */
export async function lockOccupant(sql: Sql, spaceId: string, path: string): Promise<Occupant | undefined> {
  const found = await sql.query<Pick<RawFileRow, "id" | "document_id">>(
    `select id, document_id from raw_files where space_id = $1 and path collate "C" = $2 and deleted_at is null`,
    [spaceId, path],
  );
  if (found.rows[0] === undefined) return undefined;
  const hasDocument = await lockDocumentOf(sql, found.rows[0]);
  const { rows } = await sql.query<RawFileRow>(
    "select id, document_id, object_key from raw_files where id = $1 and deleted_at is null for update",
    [found.rows[0].id],
  );
  const file = rows[0];
  if (file === undefined) return undefined;
  if (file.document_id === null || hasDocument)
    return { id: file.id, document_id: file.document_id, isFolder: file.object_key === null };
  await sql.query("update raw_files set deleted_at = now() where id = $1", [file.id]);
  return undefined;
}

/** Frees the path, and what begins with it where it ends with a slash, of files that are gone with their document's folder already. */
export async function retireHidden(sql: Sql, spaceId: string, path: string): Promise<void> {
  await sql.query(
    `update raw_files rf set deleted_at = now() from documents d join folders f on f.id = d.folder_id
     where rf.document_id = d.id and f.deleted_at is not null and rf.space_id = $1 and rf.deleted_at is null
       and (rf.path collate "C" = $2 or (right($2, 1) = '/' and starts_with(rf.path collate "C", $2)))`,
    [spaceId, path],
  );
}
