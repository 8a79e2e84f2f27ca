/** What the commands of folders share: who may change one, and the lock on the tree of its space. */
import { authorize } from "../../auth/policy.ts";
import { findFolder, type FolderRow, lockFolderTree } from "../../db/documents/folders.ts";
import type { Sql } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { etagOf } from "../etag.ts";

export const folderEtag = (folder: FolderRow): string => etagOf(folder.id, folder.updated_at);

/** @throws DomainError `not_found` if there is no such folder in the caller's reach, `permission_denied`. */
export function authorizeFolder(
  principal: Principal,
  action: "folders:read" | "folders:write",
  folder: FolderRow | undefined,
): asserts folder is FolderRow {
  authorize(principal, action, folder === undefined ? undefined : { space_id: folder.home_space_id });
}

/** Locks the folder's tree, then reads the folder. @throws DomainError `not_found`, `permission_denied` */
export async function lockFolder(sql: Sql, principal: Principal, id: string): Promise<FolderRow> {
  const found = await findFolder(sql, principal.reach, id);
  authorizeFolder(principal, "folders:write", found);
  await lockFolderTree(sql, found.home_space_id);
  const locked = await findFolder(sql, principal.reach, id);
  authorizeFolder(principal, "folders:write", locked);
  return locked;
}

/** @throws DomainError `not_found` for a folder out of reach, `bad_request` for another space's. */
export async function requireParent(
  sql: Sql,
  principal: Principal,
  spaceId: string,
  id: string,
): Promise<void> {
  const parent = await findFolder(sql, principal.reach, id);
  authorizeFolder(principal, "folders:read", parent);
  if (parent.home_space_id !== spaceId)
    throw new DomainError("wrong_space", "The folder belongs to another space.");
}
