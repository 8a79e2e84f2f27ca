/** POST /data/upload. */
import { z } from "zod";
import { authorize, RULES } from "../../../auth/policy.ts";
import { findDocument } from "../../../db/documents/read.ts";
import { findFolder } from "../../../db/documents/folders.ts";
import { inTenant } from "../../../db/pool.ts";
import type { Deps } from "../../deps.ts";
import { DomainError } from "../../../domain/errors.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import { Uuid } from "../../../schema/common.ts";
import { Document, DocumentUpload } from "../../../schema/documents/document.ts";
import { drillPoint } from "../../../telemetry/drill-point.ts";
import { acceptDocument, discardFile, receiveFile } from "../../accept-upload.ts";
import { readForm } from "../../body/form.ts";
import type { Repeat } from "../../idempotency.ts";
import { defineRoute } from "../../route.ts";

export const uploadDocument = defineRoute({
  method: "POST",
  path: "/data/upload",
  access: "keys",
  capability: "write",
  audit: { action: "documents:create", resource: "document" },
  status: 201,
  summary: "Upload a file into a space; the pipeline makes it searchable.",
  tags: ["Documents"],
  multipart: DocumentUpload,
  response: Document,
  errors: [400, 403, 404, 503, 507],
  idempotent: mayRepeat,
  async handle({ deps, principal, request }) {
    const upload = await receiveFile(deps, principal, request);
    await drillPoint("documentPipeline: object stored, nothing accepted");
    try {
      const { file, fields } = readForm(upload, DocumentUpload);
      authorize(principal, "documents:create", { space_id: fields.space_id });
      if (fields.folder_id !== undefined)
        await requireFolder(deps, principal, fields.space_id, fields.folder_id);
      return await acceptDocument(deps, principal, request, {
        spaceId: fields.space_id,
        folderId: fields.folder_id ?? null,
        filename: file.filename,
        stored: file.value,
      });
    } catch (error) {
      if (upload.file !== null) await discardFile(deps, upload.file.value, error);
      throw error;
    }
  },
});

/** @throws DomainError `not_found` for a folder that is not reached, `bad_request` for one of another space. */
async function requireFolder(
  deps: Deps,
  principal: Principal,
  spaceId: string,
  folderId: string,
): Promise<void> {
  const folder = await inTenant(deps.db, principal.organization, (sql) =>
    findFolder(sql, principal.reach, folderId),
  );
  authorize(principal, "folders:read", folder === undefined ? undefined : { space_id: folder.home_space_id });
  if (folder?.home_space_id !== spaceId)
    throw new DomainError("bad_request", "The folder belongs to another space.");
}

/** The document must still be there, and the caller still allowed to put one beside it. */
async function mayRepeat({ deps, principal, fields, answer }: Repeat): Promise<void> {
  const [space, folder] = [Uuid.safeParse(fields["space_id"]), Uuid.safeParse(fields["folder_id"])];
  // A form that was refused may have named neither.
  if (space.success) authorize(principal, "documents:create", { space_id: space.data });
  if (space.success && folder.success) await requireFolder(deps, principal, space.data, folder.data);
  if (answer === null) return;
  const { id } = z.object({ id: Uuid }).parse(answer);
  const document = await inTenant(deps.db, principal.organization, (sql) => findDocument(sql, principal, id));
  authorize(principal, "documents:create", document, RULES["documents:read"].missing);
}
