/** All SQL that moves files from path to path. The caller holds {@link lockAllPaths}: nothing else changes paths of the space meanwhile. */
import { DomainError } from "../../domain/errors.ts";
import { MAX_PATH_BYTES, nameOf } from "../../domain/paths.ts";
import type { Sql } from "../pool.ts";
import { lockDocumentOf, type RawFileRow, retireHidden } from "./by-path.ts";

const OCCUPIED = "A file exists at the new path already.";

/**
 * Moves one file; its document's name follows where the last part of the path changes.
 * @returns false where the file was deleted meanwhile.
 * @throws DomainError `bad_request` where something is at the new path.
 */
export async function moveFile(sql: Sql, file: RawFileRow, newPath: string): Promise<boolean> {
  await lockDocumentOf(sql, file);
  await retireHidden(sql, file.space_id, newPath);
  const occupied = await sql.query(
    `select from raw_files where space_id = $1 and path collate "C" = $2 and deleted_at is null`,
    [file.space_id, newPath],
  );
  if (occupied.rowCount !== 0) throw new DomainError("bad_request", OCCUPIED);
  const moved = await sql.query(
    "update raw_files set path = $2, updated_at = now() where id = $1 and deleted_at is null",
    [file.id, newPath],
  );
  if (moved.rowCount === 0) return false;
  await sql.query(
    "update documents set name = $2, updated_at = now() where id = $1 and deleted_at is null and name <> $2",
    [file.document_id, nameOf(newPath)],
  );
  return true;
}

/** What a row that was set aside is to be called; `rtrim` is for the folder itself, whose path has no slash at its end. */
const TARGET = "rtrim($3::text || substr(m.path, length($2::text) + 2), '/')";
/** No path holds a control character, so that one in front sets a row aside. */
const SET_ASIDE = `m.space_id = $1 and m.deleted_at is null and starts_with(m.path collate "C", chr(1))`;

/**
 * Moves all files and path folders below `oldPrefix`, and its own path folder, to below `newPrefix`; both end with a slash. A path
 * folder that exists at both becomes one.
 * @returns how many were moved.
 * @throws DomainError `bad_request` where one would come to lie on another file, `invalid` where a path would be too long.
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
    `with m as (
       update raw_files set path = chr(1) || path
       where space_id = $1 and deleted_at is null and (starts_with(path collate "C", $2::text) or (path collate "C" = rtrim($2::text, '/') and object_key is null))
       returning octet_length(path) as bytes)
     select count(*)::int as moved, max(bytes) - 1 - octet_length($2::text) + octet_length($3::text) as longest from m`,
    [spaceId, oldPrefix, newPrefix],
  );
  const { moved, longest } = rows[0]!;
  if (moved === 0) return 0;
  if (longest > MAX_PATH_BYTES)
    throw new DomainError("invalid", `a path has at most ${MAX_PATH_BYTES} bytes`);
  const values = [spaceId, oldPrefix, newPrefix];
  await sql.query(
    `delete from raw_files m using raw_files x
     where ${SET_ASIDE} and m.object_key is null and x.space_id = $1 and x.deleted_at is null and x.object_key is null and x.path collate "C" = ${TARGET}`,
    values,
  );
  const occupied = await sql.query(
    `select from raw_files m join raw_files x on x.space_id = m.space_id and x.deleted_at is null and x.path collate "C" = ${TARGET} where ${SET_ASIDE} limit 1`,
    values,
  );
  if (occupied.rowCount !== 0) throw new DomainError("bad_request", OCCUPIED);
  await sql.query(`update raw_files m set path = ${TARGET}, updated_at = now() where ${SET_ASIDE}`, values);
  return moved;
}
