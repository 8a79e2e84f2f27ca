/** Deletes a file with its document, or an empty path folder. Storage is freed in the background. */
import { authorize } from "../../auth/policy.ts";
import type { ToldEvent } from "../../db/audit/append.ts";
import { markRawFileDeleted } from "../../db/deletions/accept.ts";
import { findRawFile, lockDocumentOf, type RawFileRow } from "../../db/files/by-path.ts";
import { deleteEmptyPathFolder } from "../../db/files/folders.ts";
import { inTenant, type Sql } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";
import { type FileAddress, readAddress } from "../../domain/paths.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { requireUnchanged } from "../etag.ts";
import { recordChange } from "../record-change.ts";
import { fileEtag, fileNotFound } from "./file.ts";

interface FileDeletion {
  readonly spaceId: string;
  /** A path or object name of the file. */
  readonly path: string;
  readonly ifMatch: string | undefined;
}

/**
 * @throws DomainError `not_found`, `permission_denied`, `precondition_failed`; `bad_request` for a path
 * folder that is not empty.
 */
export async function deleteFile(
  deps: Pick<CommandDeps, "db" | "dispatcher">,
  caller: Caller,
  { spaceId, path, ifMatch }: FileDeletion,
): Promise<void> {
  const { principal } = caller;
  authorize(principal, "files:delete", { space_id: spaceId }, "space");
  await inTenant(deps.db, principal.organization, async (sql) => {
    const file = await lockFile(sql, readAddress(spaceId, path));
    requireUnchanged(ifMatch, fileEtag(file));
    await remove(sql, caller, file);
    await recordChange(sql, caller, "files:delete", {
      type: "file",
      id: file.id,
      spaceId,
      events: eventsOf(file),
    });
  });
  deps.dispatcher.wakeDeletions(principal.organization.id);
}

/** The document of a file is deleted with it. */
function eventsOf({ document_id: documentId }: RawFileRow): ToldEvent[] {
  const deleted: ToldEvent = { type: "file.deleted", data: { document_id: documentId } };
  if (documentId === null) return [deleted];
  return [{ type: "document.deleted", resource_type: "document", resource_id: documentId }, deleted];
}

/** Waits for a replacement or deletion of the file that is under way, and reads the file as it is then. */
async function lockFile(sql: Sql, address: FileAddress): Promise<RawFileRow> {
  const seen = await findRawFile(sql, address);
  if (seen !== undefined) await lockDocumentOf(sql, seen);
  const file = await findRawFile(sql, address);
  if (file === undefined) throw fileNotFound();
  return file;
}

async function remove(sql: Sql, { principal }: Caller, file: RawFileRow): Promise<void> {
  const { organization, user } = principal;
  const isPathFolder = file.object_key === null;
  if (isPathFolder) {
    const isDeleted = await deleteEmptyPathFolder(sql, file.id);
    if (!isDeleted) throw new DomainError("folder_not_empty", "The folder is not empty.");
    return;
  }
  const isMarked = await markRawFileDeleted(sql, { organization, userId: user.id, targetId: file.id });
  if (!isMarked) throw fileNotFound();
}
