/** Accepts a stored file as a new document and queues its first run. It is not lost after the commit. */
import { authorize } from "../../auth/policy.ts";
import { acceptNewDocument } from "../../db/documents/accept.ts";
import { lockLiveFolder } from "../../db/documents/folders.ts";
import { type DocumentRow, findDocument } from "../../db/documents/read.ts";
import { inTenant } from "../../db/pool.ts";
import { requireWithinQuotas } from "../../db/tenancy/storage-quotas.ts";
import { notFound } from "../../domain/not-found.ts";
import { newId } from "../../domain/ids.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { requireParent } from "../folders/folder.ts";
import { recordChange } from "../record-change.ts";
import { newUpload, type StoredFile, uploadedEvent } from "./stored-file.ts";

interface Upload {
  readonly spaceId: string;
  /** Null: at the root of the space. */
  readonly folderId: string | null;
  readonly filename: string;
  /** The caller's own; its size is checked. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly stored: StoredFile;
}

/**
 * If it throws, the file is still in no table, and the caller discards it.
 * @returns the new document, with nothing done to it yet, even if a worker has begun meanwhile.
 * @throws DomainError `not_found` for the space or the folder, also if one was deleted meanwhile;
 * `permission_denied`; `bad_request` for a folder of another space, and over the organization's quotas
 */
export async function acceptUpload(
  deps: Pick<CommandDeps, "db" | "dispatcher" | "config">,
  caller: Caller,
  { spaceId, folderId, filename, metadata, stored }: Upload,
): Promise<DocumentRow> {
  const { principal } = caller;
  const { organization } = principal;
  authorize(principal, "documents:create", { space_id: spaceId });
  const documentId = newId();
  const path = `documents/${documentId}/original/${filename}`;
  const document = await inTenant(deps.db, organization, async (sql) => {
    if (folderId !== null) {
      await requireParent(sql, principal, spaceId, folderId);
      await lockLiveFolder(sql, folderId);
    }
    const accepting = newUpload(principal, { documentId, spaceId, folderId, filename, path, stored });
    await acceptNewDocument(sql, accepting, metadata);
    await recordChange(sql, caller, "documents:create", {
      type: "document",
      id: documentId,
      spaceId,
      events: [uploadedEvent({ ...accepting, version: 1 })],
    });
    const accepted = await findDocument(sql, principal, documentId);
    if (accepted === undefined) throw notFound("space");
    await requireWithinQuotas(sql, organization.id, deps.config.limits);
    const fresh = { ...accepted, processing_state: { parsed: false, chunked: false, embedded: false } };
    await caller.keepAnswer?.(sql, fresh);
    return fresh;
  });
  deps.dispatcher.wake({ id: organization.id, num: organization.num });
  return document;
}
