/** Accepts a stored file at a path of a space. A file that is there already gets its next version. */
import { authorize } from "../../auth/policy.ts";
import type { ToldEvent } from "../../db/audit/append.ts";
import { markRawFileDeleted } from "../../db/deletions/accept.ts";
import { acceptNewDocument, replaceFile } from "../../db/documents/accept.ts";
import { findDocument } from "../../db/documents/read.ts";
import { lockOccupant, lockPath } from "../../db/files/by-path.ts";
import { inTenant, type Sql } from "../../db/pool.ts";
import { requireWithinQuotas } from "../../db/tenancy/storage-quotas.ts";
import { DomainError } from "../../domain/errors.ts";
import { notFound } from "../../domain/not-found.ts";
import { newId } from "../../domain/ids.ts";
import { dataObjectName, fileNameOf } from "../../domain/paths.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { contentOf, newUpload, type StoredFile, uploadedEvent } from "./stored-file.ts";

interface FileAtPath {
  readonly spaceId: string;
  /** From the root of the space, in NFC, without a slash at its ends. */
  readonly path: string;
  readonly stored: StoredFile;
}

/**
 * Uploads to one path at the same time come one after the other. If it throws, the file is still in no table,
 * and the caller discards it.
 * @returns the file as the API answers with it; search serves its earlier version until the new one is
 * published.
 * @throws DomainError `not_found` for the space, also if it was deleted meanwhile; `permission_denied`;
 * `bad_request` if a folder is at the path, and over the organization's quotas
 */
export async function acceptFile(
  deps: Pick<CommandDeps, "db" | "dispatcher" | "config">,
  caller: Caller,
  file: FileAtPath,
): Promise<{ object_name: string }> {
  const { principal } = caller;
  const { organization } = principal;
  const { spaceId, path } = file;
  authorize(principal, "files:create", { space_id: spaceId });
  const accepted = { object_name: dataObjectName(spaceId, path) };
  await inTenant(deps.db, organization, async (sql) => {
    await lockPath(sql, spaceId, path);
    const { id, rawFileId, version, removed } = await writeFile(sql, principal, file);
    const document = await findDocument(sql, principal, id);
    if (document === undefined) throw notFound("space");
    await requireWithinQuotas(sql, organization.id, deps.config.limits);
    const { fileType, size } = file.stored;
    const uploaded = uploadedEvent({ rawFileId, folderId: document.folder_id, version, fileType, size });
    await recordChange(sql, caller, "files:create", {
      type: "document",
      id,
      spaceId,
      events: [...removed, uploaded],
    });
    await caller.keepAnswer?.(sql, accepted);
  });
  deps.dispatcher.wake({ id: organization.id, num: organization.num });
  return accepted;
}

/** A document that is new, or that of the file at the path. */
interface Written {
  readonly id: string;
  readonly rawFileId: string;
  readonly version: number;
  /** What made way for it. */
  readonly removed: readonly ToldEvent[];
}

async function writeFile(
  sql: Sql,
  principal: Principal,
  { spaceId, path, stored }: FileAtPath,
): Promise<Written> {
  const { organization, user } = principal;
  const occupant = await lockOccupant(sql, spaceId, path);
  if (occupant?.isFolder === true)
    throw new DomainError("already_exists", "A folder already exists at this path.");
  if (occupant !== undefined && occupant.document_id !== null) {
    const version = await replaceFile(sql, {
      ...contentOf(stored),
      documentId: occupant.document_id,
      rawFileId: occupant.id,
      runId: newId(),
      userId: user.id,
    });
    return { id: occupant.document_id, rawFileId: occupant.id, version, removed: [] };
  }
  // A file whose document was deleted is removed: a new document begins with a file of its own.
  if (occupant !== undefined)
    await markRawFileDeleted(sql, { organization, userId: user.id, targetId: occupant.id });
  const id = newId();
  const filename = fileNameOf(path);
  const upload = newUpload(principal, { documentId: id, spaceId, folderId: null, filename, path, stored });
  await acceptNewDocument(sql, upload);
  const removed: ToldEvent[] =
    occupant === undefined
      ? []
      : [
          {
            type: "file.deleted",
            resource_type: "file",
            resource_id: occupant.id,
            data: { document_id: null },
          },
        ];
  return { id, rawFileId: upload.rawFileId, version: 1, removed };
}
