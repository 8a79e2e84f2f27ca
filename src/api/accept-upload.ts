/**
 * How a file becomes a document: streamed to the store under an intent, decided when the form is whole,
 * accepted in one transaction.
 */
import { appendAudit } from "../db/audit/append.ts";
import { type DocumentRow, findDocument } from "../db/documents/read.ts";
import { markRawFileDeleted } from "../db/deletions/accept.ts";
import { lockLiveFolder } from "../db/documents/folders.ts";
import { inTenant } from "../db/pool.ts";
import { requireWithinQuotas } from "../db/tenancy/storage-quotas.ts";
import { lockOccupant, lockPath } from "../db/files/by-path.ts";
import {
  type AcceptedUpload,
  acceptNewDocument,
  declareUpload,
  replaceFile,
} from "../db/documents/accept.ts";
import type { Deps } from "./deps.ts";
import { DomainError } from "../domain/errors.ts";
import { newId } from "../domain/ids.ts";
import { dataObjectName, nameOf } from "../domain/paths.ts";
import type { Principal } from "../domain/tenancy/principal.ts";
import { detectFileKind } from "../parsers/file-kind.ts";
import { objectName } from "../storage/object-store.ts";
import type { StoredObject } from "../storage/storage.ts";
import { formHash } from "./idempotency.ts";
import type { RouteRequest } from "./route.ts";
import { type ReceivedUpload, receiveUpload } from "./body/uploads.ts";

/** A file that is in the store and in no table yet. */
export interface StoredUpload extends StoredObject {
  readonly objectKey: string;
  readonly fileType: AcceptedUpload["fileType"];
  readonly mediaType: string;
}

/**
 * Streams the form's file to the store, encrypted for the caller's organization, before anything of the form
 * is decided. The fields may come behind the file. The caller discards the object where it then refuses the
 * upload.
 * @throws DomainError `bad_request` over the size limit, `storage_unavailable`.
 */
export async function receiveFile(
  deps: Deps,
  principal: Principal,
  request: RouteRequest,
): Promise<ReceivedUpload<StoredUpload>> {
  const organizationId = principal.organization.id;
  let stored: StoredUpload | undefined;
  try {
    const upload = await receiveUpload(request.req, {
      maxBytes: deps.config.limits.maxUploadBytes,
      signal: request.signal,
      onFile: async ({ filename, contentType, head, stream, signal }) => {
        const objectKey = objectName(organizationId, newId());
        await declareUpload(deps.db.system, organizationId, objectKey);
        const { fileType, mediaType } = await detectFileKind(head, filename, contentType);
        stored = {
          ...(await deps.storage.put({ organizationId, name: objectKey, body: stream, signal })),
          objectKey,
          fileType,
          mediaType,
        };
        return stored;
      },
    });
    request.idempotency?.bindBody(formHash(upload));
    return upload;
  } catch (error) {
    // The form broke off behind its file.
    if (stored !== undefined) await discardFile(deps, stored, error);
    throw error;
  }
}

/**
 * Removes what an upload that was refused for `reason` had stored. A failure here leaves the object to the
 * sweep of expired intents, and so does a database that went away: the upload may have been accepted with its
 * last word.
 */
export async function discardFile(deps: Deps, { objectKey }: StoredUpload, reason: unknown): Promise<void> {
  if (reason instanceof DomainError && reason.code === "database_unavailable") return;
  await deps.storage
    .delete(objectKey)
    .catch((error: unknown) => deps.log.warn({ err: error }, "a refused upload is left to the sweep"));
}

interface NewDocument {
  readonly spaceId: string;
  readonly folderId: string | null;
  readonly filename: string;
  readonly stored: StoredUpload;
}

/**
 * Accepts the upload: with the commit it is never lost, and a workflow will take it.
 * @returns the new document, with nothing done to it yet.
 * @throws DomainError `not_found` where the folder or the space was deleted meanwhile, `bad_request` over the
 *   organization's quotas.
 */
export async function acceptDocument(
  deps: Deps,
  principal: Principal,
  request: RouteRequest,
  file: NewDocument,
): Promise<DocumentRow> {
  const { organization } = principal;
  const documentId = newId();
  const document = await inTenant(deps.db, organization, async (sql) => {
    if (file.folderId !== null) await lockLiveFolder(sql, file.folderId);
    await acceptNewDocument(
      sql,
      newUpload(principal, {
        ...file,
        documentId,
        path: `documents/${documentId}/original/${file.filename}`,
      }),
    );
    await appendAudit(sql, principal, {
      action: "documents:create",
      resource_type: "document",
      resource_id: documentId,
      space_id: file.spaceId,
      request_id: request.id,
      outcome: "success",
    });
    const accepted = await findDocument(sql, principal, documentId);
    if (accepted === undefined) throw spaceGone();
    await requireWithinQuotas(sql, organization.id, deps.config.limits);
    const fresh = { ...accepted, processing_state: { parsed: false, chunked: false, embedded: false } };
    await request.idempotency?.keep(sql, fresh);
    return fresh;
  });
  deps.dispatcher.wake({ id: organization.id, num: organization.num });
  return document;
}

interface FileAtPath {
  readonly spaceId: string;
  readonly path: string;
  readonly stored: StoredUpload;
}

/**
 * Accepts the upload as the file at a path. Where one is there, its document gets a next version; uploads to
 * one path at the same time come one after the other.
 * @returns the file as the upload answers with it.
 * @throws DomainError `bad_request` where a path folder is there and over the organization's quotas,
 *   `not_found` where the space was deleted meanwhile.
 */
export async function acceptFileAtPath(
  deps: Deps,
  principal: Principal,
  request: RouteRequest,
  { spaceId, path, stored }: FileAtPath,
): Promise<{ object_name: string }> {
  const { organization, user } = principal;
  const answer = { object_name: dataObjectName(spaceId, path) };
  await inTenant(deps.db, organization, async (sql) => {
    await lockPath(sql, spaceId, path);
    const occupant = await lockOccupant(sql, spaceId, path);
    if (occupant?.isFolder === true)
      throw new DomainError("bad_request", "A folder exists at the path already.");
    const documentId = occupant?.document_id ?? newId();
    if (occupant !== undefined && occupant.document_id !== null) {
      await replaceFile(sql, {
        ...contentOf(stored),
        documentId,
        rawFileId: occupant.id,
        runId: newId(),
        userId: user.id,
      });
    } else {
      // What is left of a file whose document was deleted goes: a document begins with its own file.
      if (occupant !== undefined)
        await markRawFileDeleted(sql, { organization, userId: user.id, targetId: occupant.id });
      await acceptNewDocument(
        sql,
        newUpload(principal, { spaceId, folderId: null, filename: nameOf(path), stored, documentId, path }),
      );
    }
    if ((await findDocument(sql, principal, documentId)) === undefined) throw spaceGone();
    await requireWithinQuotas(sql, organization.id, deps.config.limits);
    await appendAudit(sql, principal, {
      action: "files:create",
      resource_type: "document",
      resource_id: documentId,
      space_id: spaceId,
      request_id: request.id,
      outcome: "success",
    });
    await request.idempotency?.keep(sql, answer);
  });
  deps.dispatcher.wake({ id: organization.id, num: organization.num });
  return answer;
}

/** The space was deleted meanwhile: nothing is written. */
function spaceGone(): DomainError {
  return new DomainError("not_found", "Space not found");
}

function newUpload(
  { organization, user }: Principal,
  { stored, ...file }: NewDocument & { readonly documentId: string; readonly path: string },
): AcceptedUpload {
  return {
    ...file,
    ...contentOf(stored),
    rawFileId: newId(),
    runId: newId(),
    organizationId: organization.id,
    userId: user.id,
  };
}

function contentOf({
  mediaType,
  fileType,
  size,
  sha256,
  objectKey,
}: StoredUpload): Pick<AcceptedUpload, "contentType" | "fileType" | "size" | "sha256" | "objectKey"> {
  return { contentType: mediaType, fileType, size, sha256, objectKey };
}
