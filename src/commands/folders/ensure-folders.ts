/** Makes the folders of paths as far as they do not exist, such as those of a folder that is uploaded. */
import { authorize } from "../../auth/policy.ts";
import {
  findFoldersAt,
  type FolderPlace,
  insertFolders,
  lockFolderTree,
} from "../../db/documents/folders.ts";
import { inTenant, type Sql } from "../../db/pool.ts";
import { newId } from "../../domain/ids.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChanges } from "../record-change.ts";
import { requireParent } from "./folder.ts";

interface NeededFolders {
  readonly spaceId: string;
  /** Where the paths begin; null for the root of the space. */
  readonly parentFolderId: string | null;
  /** Names of folders with a slash between each two. */
  readonly paths: readonly string[];
}

interface EnsuredFolder {
  readonly path: string;
  readonly id: string;
  /** Whether this call made it. */
  readonly created: boolean;
}

/**
 * Idempotent, also for two callers at once: the space's tree is locked meanwhile.
 * @throws DomainError `not_found`, `permission_denied`; `bad_request` for a parent in another space.
 * @see test/api/routes/spaces/ensure-folders.stack.test.ts
 */
export async function ensureFolders(
  deps: Pick<CommandDeps, "db">,
  caller: Caller,
  { spaceId, parentFolderId, paths }: NeededFolders,
): Promise<EnsuredFolder[]> {
  const { principal } = caller;
  authorize(principal, "folders:create", { space_id: spaceId });
  const needed = [...new Set(paths)];
  return inTenant(deps.db, principal.organization, async (sql) => {
    await lockFolderTree(sql, spaceId);
    if (parentFolderId !== null) await requireParent(sql, principal, spaceId, parentFolderId);
    const known = new Map<string, Omit<EnsuredFolder, "path">>();
    for (const level of levelsOf(needed)) {
      const places = level.map((path) => placeOf(path, known, parentFolderId));
      const made = await ensureLevel(sql, caller, spaceId, places);
      for (const [at, path] of level.entries()) known.set(path, made[at]!);
    }
    return needed.map((path) => ({ path, ...known.get(path)! }));
  });
}

/** Every path and what it begins with, each once: those of one name, those of two, and so on. */
function levelsOf(paths: readonly string[]): string[][] {
  const levels: Set<string>[] = [];
  for (const path of paths) {
    const names = path.split("/");
    for (const depth of names.keys()) (levels[depth] ??= new Set()).add(names.slice(0, depth + 1).join("/"));
  }
  return levels.map((level) => [...level]);
}

function placeOf(
  path: string,
  known: ReadonlyMap<string, { readonly id: string }>,
  root: string | null,
): FolderPlace {
  const cut = path.lastIndexOf("/");
  if (cut === -1) return { parentFolderId: root, name: path };
  return { parentFolderId: known.get(path.slice(0, cut))!.id, name: path.slice(cut + 1) };
}

/** @returns the folders in the order of their places, which differ from each other. */
async function ensureLevel(
  sql: Sql,
  caller: Caller,
  spaceId: string,
  places: readonly FolderPlace[],
): Promise<Omit<EnsuredFolder, "path">[]> {
  const { organization, user } = caller.principal;
  const found = await findFoldersAt(sql, spaceId, places);
  const keyOf = (parent: string | null, name: string): string => `${parent ?? ""}/${name}`;
  const existing = new Map(found.map((one) => [keyOf(one.parent_folder_id, one.name), one.id]));
  const level = places.map((place) => {
    const id = existing.get(keyOf(place.parentFolderId, place.name));
    return { ...place, id: id ?? newId(), created: id === undefined };
  });
  const fresh = level.filter(({ created }) => created);
  if (fresh.length > 0) {
    await insertFolders(
      sql,
      fresh.map(({ id, name, parentFolderId }) => ({
        id,
        name,
        parentFolderId,
        organizationId: organization.id,
        spaceId,
        createdBy: user.id,
      })),
    );
    await recordChanges(
      sql,
      caller,
      "folders:create",
      fresh.map(({ id }) => ({ type: "folder", id, spaceId, events: [{ type: "folder.created" }] })),
    );
  }
  return level.map(({ id, created }) => ({ id, created }));
}
