/** Makes a vector store: a folder in a space, with the files that are named. */
import { authorize } from "../../auth/policy.ts";
import { insertFolder, lockFolderTree } from "../../db/documents/folders.ts";
import { countContents, type StaticChunking, writeStore } from "../../db/stores/stores.ts";
import { inTenantContended } from "../../db/retry-deadlocks.ts";
import { DomainError } from "../../domain/errors.ts";
import { isUuid, newId } from "../../domain/ids.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { Caller } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { type AcceptDeps, acceptFiles } from "./accept-files.ts";
import type { WantedFile } from "./file.ts";
import { presentStore } from "./presented.ts";
import { folderNameFor, requireStore } from "./store.ts";

interface NewStore {
  readonly name: string;
  readonly description: string | null;
  /** `space_id` of it names the space; else it is the caller's private one. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly chunking: StaticChunking | null;
  readonly expiresAfterDays: number | null;
  readonly files: readonly WantedFile[];
}

/**
 * @returns the store as it is answered.
 * @throws DomainError `not_found` for the space and for files, `permission_denied`; `bad_request` if no space
 * is named and the caller reaches no private one, and over the organization's quotas
 */
export async function createStore(
  deps: AcceptDeps,
  caller: Caller,
  { name, description, metadata, chunking, expiresAfterDays, files }: NewStore,
) {
  const { principal } = caller;
  const { organization, user } = principal;
  const spaceId = spaceFor(principal, metadata["space_id"]);
  authorize(principal, "folders:create", { space_id: spaceId });
  const id = newId();
  const made = await inTenantContended(deps.db, organization, async (sql) => {
    await lockFolderTree(sql, spaceId);
    const at = { spaceId, parentFolderId: null, folderId: null };
    const folderName = await folderNameFor(sql, name, at);
    const folder = { id, organizationId: organization.id, spaceId, parentFolderId: null, name: folderName };
    await insertFolder(sql, { ...folder, createdBy: user.id });
    await writeStore(sql, {
      folderId: id,
      organizationId: organization.id,
      name,
      folderName,
      description,
      metadata,
      chunking,
      expiresAfterDays,
    });
    await recordChange(sql, caller, "folders:create", {
      type: "folder",
      id,
      spaceId,
      events: [{ type: "folder.created" }],
    });
    const store = await requireStore(sql, principal, "folders:write", id);
    if (files.length > 0) await acceptFiles(sql, { deps, caller, store }, files);
    const answer = presentStore(store, (await countContents(sql, [id]))(id));
    await caller.keepAnswer?.(sql, answer);
    return answer;
  });
  if (files.length > 0) deps.dispatcher.wake({ id: organization.id, num: organization.num });
  return made;
}

const PARAM = "metadata.space_id";

function spaceFor(principal: Principal, named: string | undefined): string {
  if (named !== undefined) {
    const id = named.toLowerCase();
    if (!isUuid(id))
      throw new DomainError("bad_request", "`metadata.space_id` must be the id of a space.", {
        param: PARAM,
      });
    if (!principal.reach.has(id))
      throw new DomainError("space_not_found", "Space not found", { param: PARAM });
    return id;
  }
  const own = [...principal.reach.values()].find((space) => space.is_private && space.role === "owner");
  if (own === undefined)
    throw new DomainError(
      "bad_request",
      "This key has no access to a private space: set `metadata.space_id` to the space of the vector store.",
      { param: PARAM },
    );
  return own.id;
}
