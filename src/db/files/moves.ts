/** All SQL that moves files between paths. The caller holds {@link lockAllPaths} of the space. */
import { DomainError } from "../../domain/errors.ts";
import { MAX_PATH_BYTES, fileNameOf } from "../../domain/paths.ts";
import type { Sql } from "../pool.ts";
import { lockDocumentOf, type RawFileRow, retireHidden } from "./by-path.ts";

export const OCCUPIED = "A file already exists at the new path.";

/**
 * Moves one file, and renames its document if the last part of the path changes.
 * @returns false if the file is deleted.
 * @throws DomainError `bad_request` if something is at the new path.
 */
export async function moveFile(sql: Sql, file: RawFileRow, newPath: string): Promise<boolean> {
  await lockDocumentOf(sql, file);
  await retireHidden(sql, file.space_id, newPath);
  const occupied = await sql.query(
    `select
     from raw_files
     where space_id = $1
       and path collate "C" = $2
       and deleted_at is null`,
    [file.space_id, newPath],
  );
  if (occupied.rowCount !== 0) throw new DomainError("already_exists", OCCUPIED);
  const moved = await sql.query(
    `update raw_files
     set path = $2,
         updated_at = now()
     where id = $1
       and deleted_at is null`,
    [file.id, newPath],
  );
  if (moved.rowCount === 0) return false;
  await sql.query(
    `update documents
     set name = $2,
         updated_at = now()
     where id = $1
       and deleted_at is null
       and name <> $2`,
    [file.document_id, fileNameOf(newPath)],
  );
  return true;
}

/**
 * Moves all files and path folders inside `oldPrefix`, and its own path folder, into `newPrefix`. Both end
 * with a slash. Path folders that exist at both become one.
 *
 * While they move, the rows have chr(1) in front of their path: no path can contain it, so they cannot be
 * mistaken for rows at the new paths, even if one prefix contains the other. The new path of such a row is
 * `newPrefix` and what follows `oldPrefix`; `rtrim` is for the folder itself, whose path has no slash at its
 * end.
 * @returns how many were moved.
 * @throws DomainError `bad_request` if a file is at one of the new paths, `invalid` if one would be too long.
 */
export async function movePrefix(
  sql: Sql,
  spaceId: string,
  oldPrefix: string,
  newPrefix: string,
): Promise<number> {
  await retireHidden(sql, spaceId, oldPrefix);
  await retireHidden(sql, spaceId, newPrefix);
  const { rows } = await sql.query<{ moved: number; longest: number }>(
    `with moving as (
       update raw_files
       set path = chr(1) || path
       where space_id = $1
         and deleted_at is null
         and (
           starts_with(path collate "C", $2::text)
           or (path collate "C" = rtrim($2::text, '/') and object_key is null)
         )
       returning octet_length(path) as bytes
     )
     select count(*)::int as moved,
            max(bytes) - 1 - octet_length($2::text) + octet_length($3::text) as longest
     from moving`,
    [spaceId, oldPrefix, newPrefix],
  );
  const { moved, longest } = rows[0]!;
  if (moved === 0) return 0;
  if (longest > MAX_PATH_BYTES)
    throw new DomainError("invalid", `a path has at most ${MAX_PATH_BYTES} bytes`);
  const values = [spaceId, oldPrefix, newPrefix];
  await sql.query(
    `delete from raw_files moving
     using raw_files existing
     where moving.space_id = $1
       and moving.deleted_at is null
       and starts_with(moving.path collate "C", chr(1))
       and moving.object_key is null
       and existing.space_id = $1
       and existing.deleted_at is null
       and existing.object_key is null
       and existing.path collate "C" = rtrim($3::text || substr(moving.path, length($2::text) + 2), '/')`,
    values,
  );
  const occupied = await sql.query(
    `select
     from raw_files moving
     join raw_files existing
       on existing.space_id = moving.space_id
      and existing.deleted_at is null
      and existing.path collate "C" = rtrim($3::text || substr(moving.path, length($2::text) + 2), '/')
     where moving.space_id = $1
       and moving.deleted_at is null
       and starts_with(moving.path collate "C", chr(1))
     limit 1`,
    values,
  );
  if (occupied.rowCount !== 0) throw new DomainError("already_exists", OCCUPIED);
  await sql.query(
    `update raw_files moving
     set path = rtrim($3::text || substr(moving.path, length($2::text) + 2), '/'),
         updated_at = now()
     where moving.space_id = $1
       and moving.deleted_at is null
       and starts_with(moving.path collate "C", chr(1))`,
    values,
  );
  return moved;
}
