/** Changes the name, the metadata or the expiry of a vector store. Any folder becomes one by that. */
import { findFolder, updateFolder } from "../../db/documents/folders.ts";
import { countContents, type StoreRow, writeStore } from "../../db/stores/stores.ts";
import { inTenant, type Sql } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { presentStore } from "./presented.ts";
import { folderNameFor, lockStore, requireStore } from "./store.ts";

/** What is undefined stays as it is. */
interface StoreUpdate {
  readonly id: string;
  readonly name: string | undefined;
  readonly metadata: Readonly<Record<string, string>> | undefined;
  /** Null: it does not expire any more. */
  readonly expiresAfterDays: number | null | undefined;
}

/**
 * A store that has expired is live again afterwards, without what it had.
 * @returns the store as it is answered.
 * @throws DomainError `not_found`, `permission_denied`; `bad_request` for another space
 */
export async function updateStore(
  deps: Pick<CommandDeps, "db">,
  caller: Caller,
  { id, name, metadata, expiresAfterDays }: StoreUpdate,
) {
  const { principal } = caller;
  return inTenant(deps.db, principal.organization, async (sql) => {
    const store = await lockStore(sql, principal, id);
    const space = metadata?.["space_id"];
    if (space !== undefined && space.toLowerCase() !== store.space_id)
      throw new DomainError("bad_request", "A vector store cannot be moved to another space.", {
        param: "metadata.space_id",
      });
    const folderName = await renamed(sql, caller, { store, name });
    await writeStore(sql, {
      folderId: id,
      organizationId: principal.organization.id,
      name: name ?? store.name,
      folderName,
      description: store.description,
      metadata: metadata ?? store.metadata,
      chunking: store.chunking,
      expiresAfterDays: expiresAfterDays === undefined ? store.expires_after_days : expiresAfterDays,
    });
    await recordChange(sql, caller, "folders:update", {
      type: "folder",
      id,
      spaceId: store.space_id,
      events: [{ type: "folder.updated" }],
    });
    const changed = await requireStore(sql, principal, "folders:write", id);
    const answer = presentStore(changed, (await countContents(sql, [id]))(id));
    await caller.keepAnswer?.(sql, answer);
    return answer;
  });
}

interface Renaming {
  readonly store: StoreRow;
  readonly name: string | undefined;
}

/** Renames the folder if the store gets another name. @returns the name of the folder. */
async function renamed(sql: Sql, { principal }: Caller, { store, name }: Renaming): Promise<string> {
  const folder = (await findFolder(sql, principal.reach, store.id))!;
  if (name === undefined || name === store.name) return folder.name;
  const at = { spaceId: store.space_id, parentFolderId: folder.parent_folder_id, folderId: store.id };
  const folderName = await folderNameFor(sql, name, at);
  await updateFolder(sql, store.id, { name: folderName });
  return folderName;
}
