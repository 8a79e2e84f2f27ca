/** POST /data/{document_id}/reprocess and /data/{document_id}/versions/{version}/restore. */
import { authorize } from "../../../auth/policy.ts";
import { reprocessDocument } from "../../../commands/documents/reprocess-document.ts";
import { restoreVersion } from "../../../commands/documents/restore-version.ts";
import { findDocument } from "../../../db/documents/read.ts";
import { readTenant } from "../../../db/pool.ts";
import { DocumentId } from "../../../schema/ids.ts";
import { Reprocess, RunAccepted } from "../../../schema/documents/run.ts";
import type { Repeat } from "../../idempotency.ts";
import { defineRoute } from "../../route.ts";

/** Even a refusal is repeated only for a caller who reaches the document and may process it again. */
async function mayRepeat({ deps, principal, params }: Repeat): Promise<void> {
  const id = DocumentId.parse(params["document_id"]);
  const document = await readTenant(deps.db, principal.organization, (sql) =>
    findDocument(sql, principal, id),
  );
  authorize(principal, "documents:reprocess", document);
}

export const postReprocess = defineRoute("POST /data/:document_id/reprocess", {
  operation: "documents.reprocess",
  access: "keys",
  capability: "write",
  audit: { action: "documents:reprocess", resource: "document" },
  status: 202,
  summary: "Process the stored original again, with another chunker where one is named.",
  description:
    "For editors and owners of its space. The published version stays searchable until the new one " +
    "replaces it. A run of the document that is still active is superseded. The answer comes at once; " +
    "`GET /v1/data/runs/{pipeline_run_id}` follows the run.",
  body: Reprocess,
  response: RunAccepted,
  idempotent: mayRepeat,
  handle: ({ deps, caller, params, body }) =>
    reprocessDocument(deps, caller, {
      id: params.document_id,
      chunkerName: body?.chunker_name ?? null,
      chunkerConfig: body?.chunker_config ?? null,
    }),
});

export const postRestore = defineRoute("POST /data/:document_id/versions/:version/restore", {
  operation: "documents.restore",
  access: "keys",
  capability: "write",
  audit: { action: "documents:reprocess", resource: "document" },
  status: 202,
  summary: "Publish the version before the published one again, as a new version.",
  description:
    "For editors and owners of its space. Only the version before the published one can be restored; " +
    "other ones are 400. Nothing is parsed again, and search serves the published version " +
    "until the restored one replaces it.",
  response: RunAccepted,
  errors: [400],
  idempotent: mayRepeat,
  handle: ({ deps, caller, params }) =>
    restoreVersion(deps, caller, { documentId: params.document_id, version: params.version }),
});
