/** Renames or moves a file, or all files under a prefix, to another path of the space. */
import { authorize } from "../../auth/policy.ts";
import type { ToldEvent } from "../../db/audit/append.ts";
import { findRawFile, lockAllPaths, type RawFileRow } from "../../db/files/by-path.ts";
import { moveFile, movePrefix, OCCUPIED } from "../../db/files/moves.ts";
import { inTenant, type Sql } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";
import { type FileAddress, fileNameOf, readAddress } from "../../domain/paths.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { fileNotFound, requirePath } from "./file.ts";

interface FileRename {
  readonly spaceId: string;
  /** A path or object name of a file; with a slash at its end, the prefix of all that is moved. */
  readonly oldPath: string;
  /** A path, or the object name that the file is to have. */
  readonly newPath: string;
}

/**
 * The name of the file's document follows. Either all is moved or nothing.
 * @throws DomainError `not_found`, `permission_denied`; `bad_request` if something is at the new path, or for
 * a move below itself; `invalid` if a path would be too long; ValidationProblems if there can be no such
 * path.
 */
export async function renameFile(
  deps: Pick<CommandDeps, "db">,
  caller: Caller,
  { spaceId, oldPath, newPath }: FileRename,
): Promise<void> {
  const { principal } = caller;
  authorize(principal, "files:rename", { space_id: spaceId }, "space");
  await inTenant(deps.db, principal.organization, async (sql) => {
    await lockAllPaths(sql, spaceId);
    const { id, events } = await move(sql, { spaceId, oldPath, newPath });
    await recordChange(sql, caller, "files:rename", { type: "file", id, spaceId, events });
  });
}

interface Move {
  /** Null if it was all under a prefix. */
  readonly id: string | null;
  readonly events: readonly ToldEvent[];
}

async function move(sql: Sql, { spaceId, oldPath, newPath: newAddress }: FileRename): Promise<Move> {
  const newPath = requirePath(spaceId, newAddress, "new_path");
  if (oldPath.endsWith("/")) return moveAll(sql, spaceId, requirePath(spaceId, oldPath, "old_path"), newPath);
  const file = await findRawFile(sql, readAddress(spaceId, oldPath));
  if (file === undefined) throw fileNotFound();
  await requireOwnPlace(sql, file, readAddress(spaceId, newAddress));
  if (file.path === newPath) return { id: file.id, events: [] };
  const isPathFolder = file.object_key === null;
  if (isPathFolder) return moveAll(sql, spaceId, `${file.path}/`, `${newPath}/`);
  if (!(await moveFile(sql, file, newPath))) throw fileNotFound();
  const { id, document_id: documentId } = file;
  const renamed: ToldEvent = { type: "file.renamed", data: { document_id: documentId } };
  const isNameKept = documentId === null || fileNameOf(file.path) === fileNameOf(newPath);
  if (isNameKept) return { id, events: [renamed] };
  return {
    id,
    events: [renamed, { type: "document.updated", resource_type: "document", resource_id: documentId }],
  };
}

/** What a document states as its file's address goes on meaning that file, also while it lies elsewhere. */
async function requireOwnPlace(sql: Sql, file: RawFileRow, address: FileAddress): Promise<void> {
  const { document } = address;
  if (document === null || document.id === file.document_id) return;
  const stated = await findRawFile(sql, address);
  if (stated?.document_id === document.id) throw new DomainError("already_exists", OCCUPIED);
}

async function moveAll(sql: Sql, spaceId: string, oldPrefix: string, newPrefix: string): Promise<Move> {
  if (newPrefix !== oldPrefix && newPrefix.startsWith(oldPrefix))
    throw new DomainError("folder_cycle", "A folder cannot be moved into itself.");
  const moved = await movePrefix(sql, spaceId, oldPrefix, newPrefix);
  if (moved === 0) throw fileNotFound();
  return { id: null, events: [{ type: "file.renamed", data: { count: moved } }] };
}
