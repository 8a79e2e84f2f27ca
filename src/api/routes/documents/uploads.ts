/** POST /data/upload. */
import { z } from "zod";
import { authorize } from "../../../auth/policy.ts";
import { acceptUpload } from "../../../commands/documents/accept-upload.ts";
import { requireParent } from "../../../commands/folders/folder.ts";
import { findDocument } from "../../../db/documents/read.ts";
import { readTenant } from "../../../db/pool.ts";
import { mergePatch } from "../../../domain/merge-patch.ts";
import { Uuid } from "../../../schema/fields.ts";
import { DocumentUpload } from "../../../schema/documents/changes.ts";
import { Document } from "../../../schema/documents/document.ts";
import { drillPoint } from "../../../telemetry/drill-point.ts";
import { readForm } from "../../body/form.ts";
import { discardFile, receiveFile, requireReadable } from "../../body/stored-upload.ts";
import type { Repeat } from "../../idempotency.ts";
import { defineRoute } from "../../route.ts";

export const uploadDocument = defineRoute("POST /data/upload", {
  operation: "documents.upload",
  access: "keys",
  capability: "write",
  audit: { action: "documents:create", resource: "document" },
  status: 201,
  summary: "Upload a file into a space; the pipeline makes it searchable.",
  description:
    "For editors and owners of the space. The answer comes once the file is stored; it is then parsed, " +
    "chunked and embedded in the background, and search finds it when " +
    "`processing_state.pipeline_status` is `completed`: `GET /v1/data/{document_id}?wait=60` waits for " +
    "that, and events tell of it. Uploading the same file twice makes two documents; an " +
    "`Idempotency-Key` prevents that for repeats. A file that no parser reads is accepted unless the " +
    "form says `strict=true`, and its run fails with the reason.",
  multipart: DocumentUpload,
  response: Document,
  errors: [400, 403, 404, 503, 507],
  idempotent: mayRepeat,
  async handle({ deps, principal, caller, request, reply }) {
    const upload = await receiveFile(deps, principal, request);
    await drillPoint("documentPipeline: object stored, nothing accepted");
    try {
      const { file, fields } = readForm(upload, DocumentUpload, UPLOAD_SHAPE, (warning) =>
        reply.header("Warning", warning),
      );
      if (fields.strict === true) requireReadable(file.value);
      const { doc_metadata: metadata = {}, tags } = fields;
      return await acceptUpload(deps, caller, {
        spaceId: fields.space_id,
        folderId: fields.folder_id ?? null,
        filename: file.filename,
        metadata: mergePatch({}, tags === undefined ? metadata : { ...metadata, tags }),
        stored: file.value,
      });
    } catch (error) {
      if (upload.file !== null) await discardFile(deps, upload.file.value, error);
      throw error;
    }
  },
});

const UPLOAD_SHAPE = { json: ["doc_metadata"], lists: ["tags"] };

/** The document must still exist, and the caller may still upload to its space and folder. */
async function mayRepeat({ deps, principal, fields, answer }: Repeat): Promise<void> {
  const space = Uuid.safeParse(fields["space_id"]);
  const folder = Uuid.safeParse(fields["folder_id"]);
  await readTenant(deps.db, principal.organization, async (sql) => {
    // A form that was refused may have named neither.
    if (space.success) authorize(principal, "documents:create", { space_id: space.data });
    if (space.success && folder.success) await requireParent(sql, principal, space.data, folder.data);
    if (answer === null) return;
    const { id } = z.object({ id: Uuid }).parse(answer);
    const document = await findDocument(sql, principal, id);
    authorize(principal, "documents:create", document, "document");
  });
}
