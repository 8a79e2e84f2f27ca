/** GET, PATCH and DELETE /data/{document_id}. */
import { hasEnded } from "../../../domain/work/processing.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import { whenChanged } from "../../waits/when-changed.ts";
import { authorize } from "../../../auth/policy.ts";
import { deleteDocument } from "../../../commands/documents/delete-document.ts";
import { documentEtag } from "../../../commands/documents/document.ts";
import { updateDocument } from "../../../commands/documents/update-document.ts";
import { findDocument } from "../../../db/documents/read.ts";
import { readTenant } from "../../../db/pool.ts";
import { WaitQuery } from "../../../schema/fields.ts";
import { DocumentPatch } from "../../../schema/documents/changes.ts";
import { Document } from "../../../schema/documents/document.ts";
import { defineRoute } from "../../route.ts";

const IF_MATCH = { "If-Match": "The ETag that GET gave; 412 where the document has changed since" };

export const getDocument = defineRoute("GET /data/:document_id", {
  operation: "documents.get",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "document" },
  summary: "One document with its processing state.",
  description:
    "For everybody with a role in its space. With `wait` it answers when the document's latest run gets " +
    "from one status to the next, and at once if that has ended: ask again until `pipeline_status` is " +
    "`completed`, `failed` or `cancelled`.",
  query: WaitQuery,
  response: Document,
  replyHeaders: { ETag: "Changes with the document; for If-Match" },
  async handle({ deps, principal, params, query, request, reply }) {
    const read = async (caller: Principal) => {
      const found = await readTenant(deps.db, caller.organization, (sql) =>
        findDocument(sql, caller, params.document_id),
      );
      authorize(caller, "documents:read", found);
      return found;
    };
    const document = await whenChanged(
      { deps, principal, request, waitSeconds: query.wait },
      read,
      ({ processing_state: { pipeline_run_id: id, pipeline_status: state } }) =>
        id === undefined || state === undefined || hasEnded(state) ? null : { kind: "run", id, state },
    );
    reply.header("ETag", documentEtag(document));
    return document;
  },
});

export const patchDocument = defineRoute("PATCH /data/:document_id", {
  operation: "documents.update",
  access: "keys",
  capability: "write",
  audit: { action: "documents:update", resource: "document" },
  summary: "Change a document's metadata (JSON merge patch) or its folder; nothing is reprocessed.",
  description:
    "For editors and owners of its space. What is changed holds for the next search; the text is not " +
    "processed again. Fields that are left out stay as they are, so that sending it twice changes " +
    "nothing more.",
  body: DocumentPatch,
  response: Document,
  headers: IF_MATCH,
  replyHeaders: { ETag: "Changes with the document; for If-Match" },
  errors: [412],
  async handle({ deps, caller, params, body, request, reply }) {
    const changed = await updateDocument(deps, caller, {
      id: params.document_id,
      ifMatch: request.headers["if-match"],
      metadata: body.doc_metadata,
      folderId: body.folder_id,
    });
    reply.header("ETag", documentEtag(changed));
    return changed;
  },
});

export const removeDocument = defineRoute("DELETE /data/:document_id", {
  operation: "documents.delete",
  access: "keys",
  capability: "write",
  audit: { action: "documents:delete", resource: "document" },
  status: 204,
  summary: "Remove a document, its chunks and its search entries.",
  description:
    "For editors and owners of its space. Later requests answer 404 and search finds nothing of it at " +
    "once. The raw file stays, and so do the cached vectors, so that uploading the same content again " +
    "costs nothing; `DELETE /v1/spaces/{space_id}/data/files` deletes the file too.",
  headers: IF_MATCH,
  errors: [412],
  async handle({ deps, caller, params, request }) {
    await deleteDocument(deps, caller, { id: params.document_id, ifMatch: request.headers["if-match"] });
  },
});
