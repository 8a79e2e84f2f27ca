/** All SQL of path folders: rows of `raw_files` without an object, for a folder before its first file. */
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
 * Creates the path folder if there is none.
 * @returns its id, and whether this call made it.
 * @throws DomainError `bad_request` if a file is at the path.
 */
export async function createPathFolder(
  sql: Sql,
  { organizationId, spaceId, userId, path }: NewPathFolder,
): Promise<{ id: string; isNew: boolean }> {
  await lockPath(sql, spaceId, path);
  const found = await lockOccupant(sql, spaceId, path);
  if (found !== undefined && !found.isFolder)
    throw new DomainError("already_exists", "A file already exists at this path.");
  if (found !== undefined) return { id: found.id, isNew: false };
  const id = newId();
  await sql.query(
    `insert into raw_files (id, organization_id, space_id, path, created_by)
     values ($1, $2, $3, $4, $5)`,
    [id, organizationId, spaceId, path, userId],
  );
  return { id, isNew: true };
}

/** Deletes the path folder if it is empty. @returns false if it is not, or does not exist. */
export async function deleteEmptyPathFolder(sql: Sql, id: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `delete from raw_files folder
     where folder.id = $1
       and folder.object_key is null
       and not exists (
         select
         from raw_files inside
         where inside.space_id = folder.space_id
           and inside.deleted_at is null
           and inside.path collate "C" > folder.path || '/'
           and inside.path collate "C" < folder.path || '0'
       )`,
    [id],
  );
  return rowCount === 1;
}
