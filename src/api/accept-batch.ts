/**
 * How a batch is accepted: what is asked for is told apart from what may be done, and all of its runs are
 * queued in one transaction.
 */
import type { z } from "zod";
import { RULES, decide, reachFor } from "../auth/policy.ts";
import { appendAudit } from "../db/audit/append.ts";
import { insertBatch } from "../db/runs/batches.ts";
import { inTenantContended } from "../db/retry-deadlocks.ts";
import { type DocumentPlace, findDocumentPlaces, findMatchingDocuments } from "../db/documents/search.ts";
import type { Sql } from "../db/pool.ts";
import { queueRuns } from "../db/runs/requests.ts";
import type { Deps } from "./deps.ts";
import { MAX_BATCH_DOCUMENTS } from "../domain/work/batch.ts";
import { newId } from "../domain/ids.ts";
import type { Principal } from "../domain/tenancy/principal.ts";
import { PRIORITY } from "../domain/work/processing.ts";
import { Uuid } from "../schema/common.ts";
import { ValidationProblems, valueError } from "../schema/requests/problem.ts";
import type { BatchReprocess, BatchResult } from "../schema/documents/run.ts";
import type { RouteRequest } from "./route.ts";

type Body = z.output<typeof BatchReprocess>;
type Result = z.input<typeof BatchResult>;

/** One element of `document_ids`. */
interface Asked {
  /** As it was sent. */
  readonly sent: unknown;
  /** In lower case; null where it is no id. */
  readonly id: string | null;
}

const REFUSALS = {
  invalid_id: { code: "invalid_id", message: "This is no document id." },
  not_found: { code: "not_found", message: RULES["documents:reprocess"].missing },
  forbidden: { code: "forbidden", message: RULES["documents:reprocess"].denial },
} as const;

/**
 * Accepts a batch: with the commit its runs are queued, held until its workflow releases them.
 * @throws ValidationProblems where the filters let too many documents through.
 */
export async function acceptBatch(deps: Deps, principal: Principal, body: Body, request: RouteRequest) {
  const batchId = newId();
  const { organization } = principal;
  const accepted = await inTenantContended(deps.db, organization, async (sql) => {
    const results = await queueBatch(sql, principal, body, batchId);
    await appendAudit(sql, principal, {
      action: "documents:reprocess",
      resource_type: "batch",
      resource_id: batchId,
      space_id: null,
      request_id: request.id,
      outcome: "success",
    });
    await request.idempotency?.keep(sql, results);
    return results;
  });
  deps.dispatcher.wakeBatches(organization.id);
  return accepted;
}

async function queueBatch(sql: Sql, principal: Principal, body: Body, batchId: string) {
  const asked = askedFor(body.document_ids);
  const reached =
    asked === null
      ? await matching(sql, principal, body)
      : await findDocumentPlaces(sql, principal.reach, idsOf(asked));
  const writable = reached.filter((place) => decide(principal, "documents:reprocess", place) === "allow");
  const runs = inOrder(asked, writable).map((documentId) => ({ documentId, runId: newId() }));
  const queued = await queueRuns(sql, runs, {
    trigger: "batch",
    priority: PRIORITY.batch,
    chunkerName: body.chunker_name ?? null,
    chunkerConfig: body.chunker_config ?? null,
    createdBy: principal.user.id,
    batchId,
    held: true,
  });
  const runOf = new Map(
    runs.filter((run) => queued.has(run.documentId)).map((run) => [run.documentId, run.runId]),
  );
  // A set, since a batch by filters may have 100,000 documents.
  const allowed = new Set(writable);
  const forbidden = new Set(reached.filter((place) => !allowed.has(place)).map((place) => place.id));
  const results = (asked ?? []).map((element) => resultOf(element, runOf, forbidden));
  const rejected = results.flatMap(({ document_id, error }) =>
    error === null ? [] : [{ document_id, error }],
  );
  const total = asked === null ? runOf.size : asked.length;
  const spaceIds = [...new Set(writable.map((place) => place.space_id))];
  await insertBatch(sql, {
    id: batchId,
    organizationId: principal.organization.id,
    createdBy: principal.user.id,
    spaceIds,
    total,
    accepted: runOf.size,
    rejected,
  });
  return { batch_id: batchId, total, accepted: runOf.size, rejected: rejected.length, results };
}

async function matching(sql: Sql, principal: Principal, body: Body): Promise<DocumentPlace[]> {
  const places = await findMatchingDocuments(
    sql,
    reachFor(principal, "documents:reprocess"),
    body.filters,
    MAX_BATCH_DOCUMENTS + 1,
  );
  if (places.length <= MAX_BATCH_DOCUMENTS) return places;
  throw new ValidationProblems([
    valueError(["body", "filters"], `they let more than ${MAX_BATCH_DOCUMENTS} documents through`),
  ]);
}

/** The elements of the list, each once, in order; null without a list. */
function askedFor(elements: readonly unknown[] | null | undefined): Asked[] | null {
  if (elements === null || elements === undefined) return null;
  const distinct = new Map<string, Asked>();
  for (const sent of elements) {
    const parsed = Uuid.safeParse(sent);
    const id = parsed.success ? parsed.data : null;
    const name = id ?? JSON.stringify(sent);
    if (!distinct.has(name)) distinct.set(name, { sent, id });
  }
  return [...distinct.values()];
}

function idsOf(asked: readonly Asked[]): string[] {
  return asked.flatMap(({ id }) => (id === null ? [] : [id]));
}

/** Ids of the writable documents, in the order asked for. */
function inOrder(asked: readonly Asked[] | null, writable: readonly DocumentPlace[]): string[] {
  if (asked === null) return writable.map((place) => place.id);
  const ids = new Set(writable.map((place) => place.id));
  return idsOf(asked).filter((id) => ids.has(id));
}

function resultOf(
  { sent, id }: Asked,
  runOf: ReadonlyMap<string, string>,
  forbidden: ReadonlySet<string>,
): Result {
  const runId = id === null ? undefined : runOf.get(id);
  if (runId !== undefined) return { document_id: sent, success: true, pipeline_run_id: runId, error: null };
  return {
    document_id: sent,
    success: false,
    pipeline_run_id: null,
    error: REFUSALS[refusalOf(id, forbidden)],
  };
}

function refusalOf(id: string | null, forbidden: ReadonlySet<string>): keyof typeof REFUSALS {
  if (id === null) return "invalid_id";
  return forbidden.has(id) ? "forbidden" : "not_found";
}
