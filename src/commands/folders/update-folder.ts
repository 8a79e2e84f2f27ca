/** Renames a folder, or moves it with all that is in it to another place in its space. */
import type { ToldEvent } from "../../db/audit/append.ts";
import {
  findFolder,
  type FolderRow,
  isWithinFolder,
  updateFolder as writeFolder,
} from "../../db/documents/folders.ts";
import { inTenant, type Sql } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { type IfUnchanged, requireUnchanged } from "../etag.ts";
import { recordChange } from "../record-change.ts";
import { authorizeFolder, folderEtag, lockFolder, requireParent } from "./folder.ts";

interface FolderUpdate extends IfUnchanged {
  /** Undefined leaves the name as it is. */
  readonly name: string | undefined;
  /** Null moves the folder to the root of its space; undefined leaves it in its place. */
  readonly parentFolderId: string | null | undefined;
}

/**
 * @throws DomainError `not_found`, `permission_denied`, `precondition_failed`; `bad_request` for a move into
 * itself or into another space.
 */
export async function updateFolder(
  deps: Pick<CommandDeps, "db">,
  caller: Caller,
  { id, ifMatch, name, parentFolderId }: FolderUpdate,
): Promise<FolderRow> {
  const { principal } = caller;
  const folder = await inTenant(deps.db, principal.organization, async (sql) => {
    const found = await lockFolder(sql, principal, id);
    requireUnchanged(ifMatch, folderEtag(found));
    if (parentFolderId !== undefined && parentFolderId !== null)
      await requireMovable(sql, principal, found, parentFolderId);
    await writeFolder(sql, found.id, { name, parent_folder_id: parentFolderId });
    await recordChange(sql, caller, "folders:update", {
      type: "folder",
      id,
      spaceId: found.home_space_id,
      events: [eventOf(found, parentFolderId)],
    });
    return findFolder(sql, principal.reach, found.id);
  });
  authorizeFolder(principal, "folders:write", folder);
  return folder;
}

/** A move names both places; the documents below keep their folders, and have no events of their own. */
function eventOf(folder: FolderRow, parentId: string | null | undefined): ToldEvent {
  const before = folder.parent_folder_id;
  if (parentId === undefined || parentId === before) return { type: "folder.updated" };
  return {
    type: "folder.updated",
    data: { parent_folder_id: parentId, previous_parent_folder_id: before },
  };
}

async function requireMovable(
  sql: Sql,
  principal: Principal,
  folder: FolderRow,
  parentId: string,
): Promise<void> {
  await requireParent(sql, principal, folder.home_space_id, parentId);
  if (await isWithinFolder(sql, parentId, folder.id))
    throw new DomainError("folder_cycle", "A folder cannot be moved into itself.");
}
