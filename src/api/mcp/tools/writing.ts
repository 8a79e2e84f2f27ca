/** The tools that change something: upload, reprocess, delete. */
import { acceptUpload } from "../../../commands/documents/accept-upload.ts";
import { DomainError } from "../../../domain/errors.ts";
import { mergePatch } from "../../../domain/merge-patch.ts";
import { ValidationProblems, valueError } from "../../../schema/requests/problem.ts";
import {
  DeleteDocumentInput,
  DeleteDocumentOutput,
  DocumentOutput,
  ReprocessDocumentInput,
  ReprocessOutput,
  UploadDocumentInput,
} from "../../../schema/mcp/tools.ts";
import { cleanFilename } from "../../body/part-header.ts";
import { discardFile, storeBytes } from "../../body/stored-upload.ts";
import { removeDocument } from "../../routes/documents/documents.ts";
import { postReprocess } from "../../routes/documents/reprocess.ts";
import { auditedIfRefused, callRoute, type McpCall } from "../call.ts";
import { presentDocument, whenProcessed } from "./document.ts";
import { defineTool } from "./tool.ts";

/** None does the same twice: a second call makes another document or run, or finds nothing to delete. */
const CHANGES = { readOnlyHint: false, idempotentHint: false, openWorldHint: false } as const;

export const uploadDocumentTool = defineTool({
  name: "upload_document",
  title: "Upload a document",
  description:
    "Puts a new file into a space; search finds it once it is processed. Uploading the same file twice makes two.",
  capability: "write",
  hints: { ...CHANGES, destructiveHint: false },
  isLong: true,
  input: UploadDocumentInput,
  output: DocumentOutput,
  async run(call, { space_id: spaceId, folder_id: folderId, name, content, encoding, ...more }) {
    const { deps, caller, principal } = call;
    const { metadata = {}, tags, wait_seconds: wait } = more;
    const filename = cleanFilename(name);
    const bytes = encoding === "text" ? Buffer.from(content) : decoded(content);
    const maxBytes = deps.config.limits.maxUploadBytes;
    if (bytes.length > maxBytes)
      throw new DomainError("too_large", `File size ${bytes.length} bytes exceeds maximum allowed`);
    call.progress({ progress: 0.001, total: 1, message: "storing" });
    const stored = await storeBytes(deps, principal, { filename, bytes, signal: call.signal });
    const document = await withoutFileOnError(call, stored, () =>
      acceptUpload(deps, caller, {
        spaceId,
        folderId: folderId ?? null,
        filename,
        metadata: mergePatch({}, tags === undefined ? metadata : { ...metadata, tags }),
        stored,
      }),
    );
    const seen = wait > 0 ? await whenProcessed(call, document.id, wait) : undefined;
    return { document: presentDocument(seen ?? document) };
  },
});

async function withoutFileOnError<T>(
  call: McpCall,
  stored: Parameters<typeof discardFile>[1],
  accept: () => Promise<T>,
): Promise<T> {
  try {
    return await auditedIfRefused(
      call,
      { action: "documents:create", resource: "document", id: null },
      accept,
    );
  } catch (error) {
    await discardFile(call.deps, stored, error);
    throw error;
  }
}

function decoded(content: string): Buffer {
  const bytes = Buffer.from(content, "base64");
  const withoutEnd = (text: string): string => text.split("=", 1)[0]!;
  const isWhole = withoutEnd(bytes.toString("base64")) === withoutEnd(content.replaceAll(/\s/g, ""));
  if (!isWhole) throw new ValidationProblems([valueError(["body", "content"], "is not base64")]);
  return bytes;
}

export const reprocessDocumentTool = defineTool({
  name: "reprocess_document",
  title: "Process a document again",
  description:
    "Parses, chunks and embeds the stored file of a document again. Search serves the published version until " +
    "the new one replaces it.",
  capability: "write",
  hints: { ...CHANGES, destructiveHint: false },
  isLong: true,
  input: ReprocessDocumentInput,
  output: ReprocessOutput,
  async run(call, { document_id: id, wait_seconds: wait }) {
    const { answer } = await callRoute(postReprocess, call, { params: { document_id: id } });
    const { pipeline_run_id: run, status } = answer;
    const ended = wait > 0 ? await whenProcessed(call, id, wait) : undefined;
    const { pipeline_status: end, error } = ended?.processing_state ?? {};
    return {
      document_id: id,
      run_id: run,
      status: end ?? status,
      ...(error === undefined || error === null ? {} : { error: error.message }),
    };
  },
});

export const deleteDocumentTool = defineTool({
  name: "delete_document",
  title: "Delete a document",
  description:
    "Removes a document from search, lists and answers, for everybody and at once. It cannot be taken back.",
  capability: "write",
  hints: { ...CHANGES, destructiveHint: true },
  input: DeleteDocumentInput,
  output: DeleteDocumentOutput,
  async run(call, { document_id: id }) {
    await callRoute(removeDocument, call, { params: { document_id: id } });
    return { document_id: id, deleted: true as const };
  },
});
