/** Deletes a folder with all that is in it, whose storage is freed in the background. */
import { markFolderDeleted } from "../../db/deletions/accept.ts";
import { inTenant } from "../../db/pool.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { type IfUnchanged, requireUnchanged } from "../etag.ts";
import { recordChange } from "../record-change.ts";
import { folderEtag, lockFolder } from "./folder.ts";

/** @throws DomainError `not_found`, `permission_denied`, `precondition_failed` */
export async function deleteFolder(
  deps: Pick<CommandDeps, "db" | "dispatcher">,
  caller: Caller,
  { id, ifMatch }: IfUnchanged,
): Promise<void> {
  const { organization, user } = caller.principal;
  await inTenant(deps.db, organization, async (sql) => {
    const found = await lockFolder(sql, caller.principal, id);
    requireUnchanged(ifMatch, folderEtag(found));
    await markFolderDeleted(sql, { organization, userId: user.id, targetId: id });
    await recordChange(sql, caller, "folders:delete", {
      type: "folder",
      id,
      spaceId: found.home_space_id,
      events: [{ type: "folder.deleted" }],
    });
  });
  deps.dispatcher.wakeDeletions(organization.id);
}
