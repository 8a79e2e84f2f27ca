/** All SQL of path folders: rows of `raw_files` without an object, so that a folder can be there before its first file. */
import { DomainError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { Sql } from "../pool.ts";
import { lockOccupant, lockPath } from "./by-path.ts";

interface NewPathFolder {
  readonly organizationId: string;
  readonly spaceId: string;
  readonly userId: string;
  readonly path: string;
}

/**
 * Makes the folder where there is none.
 * @returns its id, and whether this call made it.
 * @throws DomainError `bad_request` where a file is at the path.
 */
export async function createPathFolder(
  sql: Sql,
  { organizationId, spaceId, userId, path }: NewPathFolder,
): Promise<{ id: string; isNew: boolean }> {
  await lockPath(sql, spaceId, path);
  const found = await lockOccupant(sql, spaceId, path);
  if (found !== undefined && !found.isFolder)
    throw new DomainError("bad_request", "A file exists at the path already.");
  if (found !== undefined) return { id: found.id, isNew: false };
  const id = newId();
  await sql.query(
    "insert into raw_files (id, organization_id, space_id, path, created_by) values ($1, $2, $3, $4, $5)",
    [id, organizationId, spaceId, path, userId],
  );
  return { id, isNew: true };
}

/** @returns false where something lies below the folder, or it is gone. */
export async function deleteEmptyPathFolder(sql: Sql, id: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `delete from raw_files rf where rf.id = $1 and rf.object_key is null and not exists (
       select from raw_files below where below.space_id = rf.space_id and below.deleted_at is null
         and below.path collate "C" > rf.path || '/' and below.path collate "C" < rf.path || '0')`,
    [id],
  );
  return rowCount === 1;
}
