/** Deletes a vector store: its folder with all documents in it, whose storage is freed in the background. */
import { markFolderDeleted } from "../../db/deletions/accept.ts";
import { findFolder } from "../../db/documents/folders.ts";
import { inTenant } from "../../db/pool.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { type IfUnchanged, requireUnchanged } from "../etag.ts";
import { authorizeFolder, folderEtag } from "../folders/folder.ts";
import { recordChange } from "../record-change.ts";
import { lockStore } from "./store.ts";

/**
 * `ifMatch` is an ETag of the folder.
 * @throws DomainError `not_found`, `permission_denied`, `precondition_failed`
 */
export async function deleteStore(
  deps: Pick<CommandDeps, "db" | "dispatcher">,
  caller: Caller,
  { id, ifMatch }: IfUnchanged,
): Promise<void> {
  const { organization, user } = caller.principal;
  await inTenant(deps.db, organization, async (sql) => {
    const store = await lockStore(sql, caller.principal, id);
    const folder = await findFolder(sql, caller.principal.reach, id);
    authorizeFolder(caller.principal, "folders:write", folder);
    requireUnchanged(ifMatch, folderEtag(folder));
    await markFolderDeleted(sql, { organization, userId: user.id, targetId: id });
    await recordChange(sql, caller, "folders:delete", {
      type: "folder",
      id,
      spaceId: store.space_id,
      events: [{ type: "folder.deleted" }],
    });
  });
  deps.dispatcher.wakeDeletions(organization.id);
}
