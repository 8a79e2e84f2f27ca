/** GET, PATCH and DELETE /data/{document_id}. */
import { authorize } from "../../../auth/policy.ts";
import { appendAudit } from "../../../db/audit/append.ts";
import { inTenantContended } from "../../../db/retry-deadlocks.ts";
import { markDocumentDeleted } from "../../../db/deletions/accept.ts";
import {
  type DocumentRow,
  findDocument,
  lockDocument,
  moveDocument,
  readOwnMetadata,
  writeOwnMetadata,
} from "../../../db/documents/read.ts";
import { findFolder } from "../../../db/documents/folders.ts";
import { inTenant, type Sql } from "../../../db/pool.ts";
import { DomainError } from "../../../domain/errors.ts";
import { mergePatch } from "../../../domain/merge-patch.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import { DocumentParams } from "../../../schema/common.ts";
import { Document, DocumentPatch, MAX_METADATA_CHARACTERS } from "../../../schema/documents/document.ts";
import { ValidationProblems, valueError } from "../../../schema/requests/problem.ts";
import { etagOf, requireUnchanged } from "../../../commands/etag.ts";
import { defineRoute } from "../../route.ts";

const IF_MATCH = { "If-Match": "The ETag that GET gave; 412 where the document has changed since" };
const etagOfDocument = (document: DocumentRow): string => etagOf(document.id, document.updated_at);

export const getDocument = defineRoute({
  method: "GET",
  path: "/data/:document_id",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "document" },
  status: 200,
  summary: "One document with its processing state.",
  tags: ["Documents"],
  params: DocumentParams,
  response: Document,
  replyHeaders: { ETag: "Changes with the document; for If-Match" },
  async handle({ deps, principal, params, reply }) {
    const document = await inTenant(deps.db, principal.organization, (sql) =>
      findDocument(sql, principal, params.document_id),
    );
    authorize(principal, "documents:read", document);
    reply.header("ETag", etagOfDocument(document));
    return document;
  },
});

export const patchDocument = defineRoute({
  method: "PATCH",
  path: "/data/:document_id",
  access: "keys",
  capability: "write",
  audit: { action: "documents:update", resource: "document" },
  status: 200,
  summary: "Change a document's metadata (JSON merge patch) or its folder; nothing is reprocessed.",
  tags: ["Documents"],
  params: DocumentParams,
  body: DocumentPatch,
  response: Document,
  headers: IF_MATCH,
  replyHeaders: { ETag: "Changes with the document; for If-Match" },
  errors: [412],
  async handle({ deps, principal, params, body, request, reply }) {
    const id = params.document_id;
    const changed = await inTenantContended(deps.db, principal.organization, async (sql) => {
      const document = await lockDocument(sql, principal, id);
      authorize(principal, "documents:update", document);
      requireUnchanged(request.headers["if-match"], etagOfDocument(document));
      if (body.doc_metadata !== undefined)
        await writeOwnMetadata(sql, id, patched(await readOwnMetadata(sql, id), body.doc_metadata));
      if (body.folder_id !== undefined) await move(sql, principal, document, body.folder_id);
      await appendAudit(sql, principal, {
        action: "documents:update",
        resource_type: "document",
        resource_id: id,
        space_id: document.space_id,
        request_id: request.id,
        outcome: "success",
      });
      return findDocument(sql, principal, id);
    });
    authorize(principal, "documents:update", changed);
    reply.header("ETag", etagOfDocument(changed));
    return changed;
  },
});

function patched(metadata: Record<string, unknown>, patch: Record<string, unknown>): Record<string, unknown> {
  const merged = mergePatch(metadata, patch);
  if (JSON.stringify(merged).length > MAX_METADATA_CHARACTERS) {
    throw new ValidationProblems([
      valueError(
        ["body", "doc_metadata"],
        `the metadata as a whole must have at most ${MAX_METADATA_CHARACTERS} characters as JSON`,
      ),
    ]);
  }
  return merged;
}

/** @throws DomainError `not_found` for a folder that is not reached, `bad_request` for one of another space. */
async function move(
  sql: Sql,
  principal: Principal,
  document: DocumentRow,
  folderId: string | null,
): Promise<void> {
  if (folderId !== null) {
    const folder = await findFolder(sql, principal.reach, folderId);
    authorize(
      principal,
      "folders:read",
      folder === undefined ? undefined : { space_id: folder.home_space_id },
    );
    if (folder?.home_space_id !== document.space_id)
      throw new DomainError("bad_request", "The folder belongs to another space.");
  }
  if (!(await moveDocument(sql, document.id, folderId)))
    throw new DomainError("not_found", "Folder not found");
}

export const deleteDocument = defineRoute({
  method: "DELETE",
  path: "/data/:document_id",
  access: "keys",
  capability: "write",
  audit: { action: "documents:delete", resource: "document" },
  status: 204,
  summary: "Remove a document, its chunks and its search entries.",
  description:
    "Later requests answer 404 and search finds nothing of it at once. The raw file stays, and so do the cached vectors, so that uploading the same content again costs nothing.",
  tags: ["Documents"],
  params: DocumentParams,
  headers: IF_MATCH,
  errors: [412],
  async handle({ deps, principal, params, request }) {
    const id = params.document_id;
    const { organization, user } = principal;
    await inTenantContended(deps.db, organization, async (sql) => {
      const document = await lockDocument(sql, principal, id);
      authorize(principal, "documents:delete", document);
      requireUnchanged(request.headers["if-match"], etagOfDocument(document));
      await markDocumentDeleted(sql, { organization, userId: user.id, targetId: id });
      await appendAudit(sql, principal, {
        action: "documents:delete",
        resource_type: "document",
        resource_id: id,
        space_id: document.space_id,
        request_id: request.id,
        outcome: "success",
      });
    });
    deps.dispatcher.wakeDeletions(organization.id);
  },
});
