/** Streams a form's file to the object store before the form is judged; removes it if that is refused. */
import { Readable } from "node:stream";
import type { StoredFile } from "../../commands/documents/stored-file.ts";
import { declareUpload } from "../../db/documents/accept.ts";
import type { Deps } from "../deps.ts";
import { DomainError } from "../../domain/errors.ts";
import { UNREADABLE } from "../../domain/file-type.ts";
import { newId } from "../../domain/ids.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { detectFileKind } from "../../parsers/file-kind.ts";
import { objectName } from "../../storage/object-store.ts";
import { formHash } from "../idempotency.ts";
import type { RouteRequest } from "../route.ts";
import { type ReceivedUpload, receiveUpload } from "./uploads.ts";

/**
 * Encrypts the file for the caller's organization. The form's fields may come after the file, so the caller
 * checks them next, and calls {@link discardFile} if it then refuses the upload.
 * @throws DomainError `bad_request` over the size limit, `storage_unavailable`
 */
export async function receiveFile(
  deps: Deps,
  principal: Principal,
  request: RouteRequest,
): Promise<ReceivedUpload<StoredFile>> {
  const organizationId = principal.organization.id;
  let stored: StoredFile | undefined;
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
    request.bindBody?.(formHash(upload));
    return upload;
  } catch (error) {
    // The form broke off after its file.
    if (stored !== undefined) await discardFile(deps, stored, error);
    throw error;
  }
}

interface WholeFile {
  readonly filename: string;
  readonly bytes: Buffer;
  readonly signal: AbortSignal;
}

const HEAD_BYTES = 65_536;
const OCTET_STREAM = "application/octet-stream";

/** The same for a file that is in memory. The caller calls {@link discardFile} if it then refuses it. */
export async function storeBytes(
  { db, storage }: Pick<Deps, "db" | "storage">,
  principal: Principal,
  { filename, bytes, signal }: WholeFile,
): Promise<StoredFile> {
  const organizationId = principal.organization.id;
  const objectKey = objectName(organizationId, newId());
  await declareUpload(db.system, organizationId, objectKey);
  const head = bytes.subarray(0, HEAD_BYTES);
  const { fileType, mediaType } = await detectFileKind(head, filename, OCTET_STREAM);
  const body = Readable.from(bytes.length === 0 ? [] : [bytes]);
  return {
    ...(await storage.put({ organizationId, name: objectKey, body, signal })),
    objectKey,
    fileType,
    mediaType,
  };
}

/**
 * Removes what an upload refused for `reason` had stored; if that fails, the sweep of expired intents does.
 * It is also left to the sweep if the database went away: the commit may have succeeded unseen.
 */
export async function discardFile(deps: Deps, { objectKey }: StoredFile, reason: unknown): Promise<void> {
  if (reason instanceof DomainError && reason.code === "database_unavailable") return;
  await deps.storage
    .delete(objectKey)
    .catch((error: unknown) =>
      deps.log.warn({ err: error }, "a refused upload could not be removed; the sweep will remove it"),
    );
}

/** What an upload with `strict` asks for. @throws DomainError `empty_file`, `unsupported_file_type` */
export function requireReadable({ size, fileType }: Pick<StoredFile, "size" | "fileType">): void {
  if (size === 0) throw new DomainError("empty_file", "The file is empty.", { param: "file" });
  if (fileType === UNREADABLE)
    throw new DomainError("unsupported_file_type", "This file type is not supported.", { param: "file" });
}
