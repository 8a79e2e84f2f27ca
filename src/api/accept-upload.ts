/** How a file becomes a document: streamed to the store under an intent, decided when the form is whole, accepted in one transaction. */
import { appendAudit } from "../db/audit.ts";
import { inTenant } from "../db/pool.ts";
import { type AcceptedUpload, acceptNewDocument, declareUpload } from "../db/uploads.ts";
import type { Deps } from "../deps.ts";
import { newId } from "../domain/ids.ts";
import type { Principal } from "../domain/principal.ts";
import { detectFileKind } from "../parsers/file-kind.ts";
import { objectName } from "../storage/object-store.ts";
import type { StoredObject } from "../storage/storage.ts";
import type { RouteRequest } from "./route.ts";
import { type ReceivedUpload, receiveUpload } from "./uploads.ts";

/** A file that is in the store and in no table yet. */
export interface StoredUpload extends StoredObject {
  readonly objectKey: string;
  readonly fileType: AcceptedUpload["fileType"];
  readonly mediaType: string;
}

/**
 * Streams the form's file to the store, encrypted for the caller's organization, before anything of the form is decided.
 * The fields may come behind the file. The caller discards the object where it then refuses the upload.
 * @throws DomainError `bad_request` over the size limit, `storage_unavailable`.
 */
export async function receiveFile(deps: Deps, principal: Principal, request: RouteRequest): Promise<ReceivedUpload<StoredUpload>> {
  const organizationId = principal.organization.id;
  return receiveUpload(request.req, {
    maxBytes: deps.config.limits.maxUploadBytes,
    signal: request.signal,
    onFile: async ({ filename, contentType, head, stream, signal }) => {
      const objectKey = objectName(organizationId, newId());
      await declareUpload(deps.db.system, organizationId, objectKey);
      const { fileType, mediaType } = await detectFileKind(head, filename, contentType);
      const stored = await deps.storage.put({ organizationId, name: objectKey, body: stream, signal });
      return { ...stored, objectKey, fileType, mediaType };
    },
  });
}

/** Removes what an upload that was refused had stored. A failure here leaves the object to the sweep of expired intents. */
export async function discardFile(deps: Deps, stored: StoredUpload): Promise<void> {
  await deps.storage.delete(stored.objectKey).catch((error: unknown) => deps.log.warn({ err: error }, "a refused upload is left to the sweep"));
}

interface NewDocument {
  readonly spaceId: string;
  readonly folderId: string | null;
  readonly filename: string;
  readonly stored: StoredUpload;
  /** Where the raw file stands; absent for the document's own place. */
  readonly path?: string;
}

/** Accepts the upload: with the commit it is never lost, and a workflow will take it. @returns the new document's id. */
export async function acceptDocument(deps: Deps, principal: Principal, request: RouteRequest, file: NewDocument): Promise<string> {
  const documentId = newId();
  const { organization } = principal;
  await inTenant(deps.db, organization, async (sql) => {
    await acceptNewDocument(sql, {
      documentId,
      rawFileId: newId(),
      runId: newId(),
      organizationId: organization.id,
      spaceId: file.spaceId,
      folderId: file.folderId,
      userId: principal.user.id,
      filename: file.filename,
      contentType: file.stored.mediaType,
      fileType: file.stored.fileType,
      size: file.stored.size,
      sha256: file.stored.sha256,
      objectKey: file.stored.objectKey,
      path: file.path ?? `documents/${documentId}/original/${file.filename}`,
    });
    await appendAudit(sql, principal, { action: "documents:create", resource_type: "document", resource_id: documentId, space_id: file.spaceId, request_id: request.id, outcome: "success" });
  });
  deps.dispatcher.wake({ id: organization.id, num: organization.num });
  return documentId;
}

