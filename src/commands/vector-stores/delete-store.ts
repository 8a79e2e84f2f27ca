/** Deletes a vector store: its folder with all documents in it, whose storage is freed in the background. */
import { markFolderDeleted } from "../../db/deletions/accept.ts";
import { inTenant } from "../../db/pool.ts";
import type { Caller } from "../caller.ts";
import type { CommandDeps } from "../deps.ts";
import { recordChange } from "../record-change.ts";
import { lockStore } from "./store.ts";

/**
 * @throws DomainError `not_found`, `permission_denied`
 * @see test/commands/vector-stores/vector-stores.database.test.ts
 */
export async function deleteStore(
  deps: Pick<CommandDeps, "db" | "dispatcher">,
  caller: Caller,
  id: string,
): Promise<void> {
  const { organization, user } = caller.principal;
  await inTenant(deps.db, organization, async (sql) => {
    const store = await lockStore(sql, caller.principal, id);
    await markFolderDeleted(sql, { organization, userId: user.id, targetId: id });
    await recordChange(sql, caller, "folders:delete", { type: "folder", id, spaceId: store.space_id });
  });
  deps.dispatcher.wakeDeletions(organization.id);
}
