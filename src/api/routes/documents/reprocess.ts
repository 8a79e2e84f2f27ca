/** POST /data/{document_id}/reprocess and /data/{document_id}/versions/{version}/restore. */
import { authorize } from "../../../auth/policy.ts";
import { appendAudit } from "../../../db/audit/append.ts";
import { inTenantContended } from "../../../db/retry-deadlocks.ts";
import { findDocument, lockDocument } from "../../../db/documents/read.ts";
import { inTenant, type Sql } from "../../../db/pool.ts";
import { queueRestore } from "../../../db/documents/restore-version.ts";
import { queueRun } from "../../../db/runs/requests.ts";
import type { Deps } from "../../deps.ts";
import { newId } from "../../../domain/ids.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import { PRIORITY } from "../../../domain/work/processing.ts";
import { DocumentParams } from "../../../schema/common.ts";
import { ValidationProblems } from "../../../schema/requests/problem.ts";
import { Reprocess, RunAccepted, VersionParams } from "../../../schema/documents/run.ts";
import type { Repeat } from "../../idempotency.ts";
import { defineRoute, type RouteRequest } from "../../route.ts";

/** @throws ValidationProblems where chunks would be larger than what the model embeds. */
export function requireEmbeddable(
  config: { readonly max_tokens: number } | null | undefined,
  maxTokens: number,
): void {
  if (!config || config.max_tokens <= maxTokens) return;
  const problem = {
    type: "less_than_equal",
    msg: `Input should be less than or equal to ${maxTokens}`,
    input: config.max_tokens,
    ctx: { le: maxTokens },
  };
  throw new ValidationProblems([{ ...problem, loc: ["body", "chunker_config", "max_tokens"] }]);
}

interface RunToQueue {
  readonly principal: Principal;
  readonly documentId: string;
  readonly request: RouteRequest;
  readonly queue: (sql: Sql, runId: string) => Promise<unknown>;
}

/** Queues a run of a document that the caller may reprocess, with its audit row, and wakes the dispatcher. */
async function acceptRun(deps: Deps, { principal, documentId, request, queue }: RunToQueue) {
  const runId = newId();
  const answer = { document_id: documentId, pipeline_run_id: runId, status: "queued" } as const;
  const { organization } = principal;
  await inTenantContended(deps.db, organization, async (sql) => {
    const document = await lockDocument(sql, principal, documentId);
    authorize(principal, "documents:reprocess", document);
    await queue(sql, runId);
    await appendAudit(sql, principal, {
      action: "documents:reprocess",
      resource_type: "document",
      resource_id: documentId,
      space_id: document.space_id,
      request_id: request.id,
      outcome: "success",
    });
    await request.idempotency?.keep(sql, answer);
  });
  deps.dispatcher.wake({ id: organization.id, num: organization.num });
  return answer;
}

/** Whatever was answered: the document must be there, and the caller allowed to process it again. */
async function mayRepeat({ deps, principal, params }: Repeat): Promise<void> {
  const { document_id: id } = DocumentParams.parse({ document_id: params["document_id"] });
  authorize(
    principal,
    "documents:reprocess",
    await inTenant(deps.db, principal.organization, (sql) => findDocument(sql, principal, id)),
  );
}

export const reprocessDocument = defineRoute({
  method: "POST",
  path: "/data/:document_id/reprocess",
  access: "keys",
  capability: "write",
  audit: { action: "documents:reprocess", resource: "document" },
  status: 202,
  summary: "Process the stored original again, with another chunker where one is named.",
  description:
    "The published version stays searchable until the new one replaces it. A run of the document that is still active is superseded.",
  tags: ["Documents"],
  params: DocumentParams,
  body: Reprocess,
  response: RunAccepted,
  idempotent: mayRepeat,
  async handle({ deps, principal, params, body, request }) {
    requireEmbeddable(body?.chunker_config, deps.embedding.maxTokens);
    const documentId = params.document_id;
    const chunking = { chunkerName: body?.chunker_name ?? null, chunkerConfig: body?.chunker_config ?? null };
    return acceptRun(deps, {
      principal,
      documentId,
      request,
      queue: (sql, runId) =>
        queueRun(sql, {
          runId,
          documentId,
          trigger: "reprocess",
          priority: PRIORITY.interactive,
          ...chunking,
          createdBy: principal.user.id,
          batchId: null,
          held: false,
        }),
    });
  },
});

export const restoreVersion = defineRoute({
  method: "POST",
  path: "/data/:document_id/versions/:version/restore",
  access: "keys",
  capability: "write",
  audit: { action: "documents:reprocess", resource: "document" },
  status: 202,
  summary: "Publish the version before the published one again, as a new version.",
  tags: ["Documents"],
  params: VersionParams,
  response: RunAccepted,
  errors: [400],
  idempotent: mayRepeat,
  async handle({ deps, principal, params, request }) {
    const documentId = params.document_id;
    return acceptRun(deps, {
      principal,
      documentId,
      request,
      queue: (sql, runId) =>
        queueRestore(sql, {
          documentId,
          version: params.version,
          runId,
          createdBy: principal.user.id,
          embeddingModel: deps.embedding.name,
        }),
    });
  },
});
