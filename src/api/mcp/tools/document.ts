/** Documents as tools show them, and the wait for their processing. */
import type { z } from "zod";
import { DomainError } from "../../../domain/errors.ts";
import { hasEnded } from "../../../domain/work/processing.ts";
import type { Document } from "../../../schema/documents/document.ts";
import { getDocument } from "../../routes/documents/documents.ts";
import { callRoute, type McpCall } from "../call.ts";
import { documentUri } from "../uris.ts";

export type ShownDocument = z.output<typeof Document>;

/** One request for a change of the state; the caller's rights are looked up after each. */
const WAIT_SECONDS = 10;

export const documentName = ({
  doc_metadata: metadata,
  file_path: path,
}: Pick<ShownDocument, "doc_metadata" | "file_path">) =>
  typeof metadata["original_filename"] === "string"
    ? metadata["original_filename"]
    : (path.split("/").at(-1) ?? "");

export function presentDocument(
  document: Omit<ShownDocument, "created_at" | "updated_at"> & { readonly created_at: Date | string },
) {
  const { id, space_id, folder_path, file_type, file_size, created_at, version, processing_state } = document;
  const { pipeline_status: status, error } = processing_state;
  return {
    id,
    name: documentName(document),
    space_id,
    folder_path,
    file_type,
    file_size,
    created_at: new Date(created_at).toISOString(),
    version,
    ...(status === undefined ? {} : { status }),
    ...(error === undefined || error === null ? {} : { error: error.message }),
    uri: documentUri({ spaceId: space_id, documentId: id }),
  };
}

/**
 * Waits until the document's latest run has ended or the time is over, and tells how far it is. What was
 * asked for is done by then, so that a wait that is refused or fails ends with what was seen last.
 * @returns undefined if nothing was seen.
 */
export async function whenProcessed(
  call: McpCall,
  id: string,
  seconds: number,
): Promise<ShownDocument | undefined> {
  const deadline = performance.now() + seconds * 1_000;
  let told = 0;
  let seen: ShownDocument | undefined;
  for (let wait = 0; ;) {
    const document = await lookAt(call, id, wait);
    if (document === undefined) return seen;
    seen = document;
    const { pipeline_status: status, progress = 0 } = document.processing_state;
    if (progress > told || told === 0) {
      told = Math.max(progress, told, 0.01);
      call.progress({ progress: told, total: 1, message: status ?? "queued" });
    }
    const left = (deadline - performance.now()) / 1_000;
    if (left <= 0 || call.signal.aborted || (status !== undefined && hasEnded(status))) return seen;
    wait = Math.min(WAIT_SECONDS, Math.ceil(left));
  }
}

async function lookAt(call: McpCall, id: string, wait: number): Promise<ShownDocument | undefined> {
  try {
    const asked = { params: { document_id: id }, query: { wait } };
    const { answer } = await callRoute(getDocument, call, asked, { isSilent: true });
    return answer;
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}
