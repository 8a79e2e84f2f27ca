/** A file that is in the object store and in no table yet, and what is written when it is accepted. */
import type { ToldEvent } from "../../db/audit/append.ts";
import type { AcceptedUpload } from "../../db/documents/accept.ts";
import { newId } from "../../domain/ids.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { StoredObject } from "../../storage/storage.ts";

export interface StoredFile extends Pick<StoredObject, "size" | "sha256"> {
  readonly objectKey: string;
  /** What its content is, whatever the sender called it. */
  readonly fileType: AcceptedUpload["fileType"];
  readonly mediaType: string;
}

interface NewDocument {
  readonly documentId: string;
  readonly spaceId: string;
  readonly folderId: string | null;
  readonly filename: string;
  /** Where the raw file is in its space. */
  readonly path: string;
  readonly stored: StoredFile;
}

export function newUpload(
  { organization, user }: Principal,
  { stored, ...file }: NewDocument,
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

/** The event of a new file, or of the next version of one. */
export function uploadedEvent(uploaded: {
  readonly rawFileId: string;
  readonly folderId: string | null;
  readonly version: number;
  readonly fileType: StoredFile["fileType"];
  readonly size: number;
}): ToldEvent {
  return {
    type: "document.uploaded",
    data: {
      file_id: uploaded.rawFileId,
      folder_id: uploaded.folderId,
      version: uploaded.version,
      file_type: uploaded.fileType,
      file_size: uploaded.size,
    },
  };
}

type Content = Pick<AcceptedUpload, "contentType" | "fileType" | "size" | "sha256" | "objectKey">;

export function contentOf({ mediaType, fileType, size, sha256, objectKey }: StoredFile): Content {
  return { contentType: mediaType, fileType, size, sha256, objectKey };
}
