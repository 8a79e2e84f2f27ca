/** Makes a folder in a space, at its root or in another folder. */
import { authorize } from "../../auth/policy.ts";
import { findFolder, type FolderRow, insertFolder, lockFolderTree } from "../../db/documents/folders.ts";
import { inTenant } from "../../db/pool.ts";
import { newId } from "../../domain/ids.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { authorizeFolder, requireParent } from "./folder.ts";

interface NewFolder {
  readonly spaceId: string;
  readonly name: string;
  /** Null for a folder at the root of the space. */
  readonly parentFolderId: string | null;
}

/** @throws DomainError `not_found`, `permission_denied`; `bad_request` for a parent in another space. */
export async function createFolder(
  deps: Pick<CommandDeps, "db">,
  caller: Caller,
  { spaceId, name, parentFolderId }: NewFolder,
): Promise<FolderRow> {
  const { principal } = caller;
  const { organization, user } = principal;
  authorize(principal, "folders:create", { space_id: spaceId });
  const id = newId();
  const folder = await inTenant(deps.db, organization, async (sql) => {
    await lockFolderTree(sql, spaceId);
    if (parentFolderId !== null) await requireParent(sql, principal, spaceId, parentFolderId);
    await insertFolder(sql, {
      id,
      organizationId: organization.id,
      spaceId,
      parentFolderId,
      name,
      createdBy: user.id,
    });
    await recordChange(sql, caller, "folders:create", {
      type: "folder",
      id,
      spaceId,
      events: [{ type: "folder.created" }],
    });
    return findFolder(sql, principal.reach, id);
  });
  authorizeFolder(principal, "folders:write", folder);
  return folder;
}
