/** The documents that a change of many is made to, and what is answered about each. */
import type { z } from "zod";
import { type Action, reachFor, RULES } from "../../auth/policy.ts";
import {
  type DocumentChoice,
  type DocumentPlace,
  findDocumentPlaces,
  findMatchingDocuments,
} from "../../db/documents/search.ts";
import type { Sql } from "../../db/pool.ts";
import { missingMessage } from "../../domain/not-found.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { BulkResult } from "../../schema/documents/bulk.ts";
import { ValidationProblems, valueError } from "../../schema/requests/problem.ts";
import { type AskedDocument, idsOf, readAskedDocuments } from "../batches/asked-documents.ts";

/** Documents that filters and folders may choose for one change. */
const MOST = 10_000;

/** The documents chosen where the caller may do `action`. @throws ValidationProblems if more than `most`. */
export async function chooseDocuments(
  sql: Sql,
  principal: Principal,
  action: Action,
  { filters, folderIds, most }: DocumentChoice & { readonly most: number },
): Promise<DocumentPlace[]> {
  const reach = reachFor(principal, action);
  const places = await findMatchingDocuments(sql, reach, { filters, folderIds }, most + 1);
  if (places.length <= most) return places;
  const field = filters.length > 0 ? "filters" : "folder_ids";
  throw new ValidationProblems([valueError(["body", field], `they match more than ${most} documents`)]);
}

export interface BulkRequest extends DocumentChoice {
  /** As the caller sent them; an invalid element stops no other. Null: filters and folders choose. */
  readonly documentIds: readonly unknown[] | null;
  /** True says what would happen, and changes nothing. */
  readonly dryRun: boolean;
}

/** Documents that were asked for, each once; null if filters and folders chose. */
export type Asked = readonly AskedDocument[] | null;

/** What was asked for, and those that the caller reaches; locked until the transaction ends unless dry. */
export async function reachDocuments(
  sql: Sql,
  principal: Principal,
  action: Action,
  { documentIds, dryRun, ...choice }: BulkRequest,
): Promise<{ readonly asked: Asked; readonly places: readonly DocumentPlace[] }> {
  const asked = documentIds === null ? null : readAskedDocuments(documentIds);
  const chosen =
    asked === null
      ? (await chooseDocuments(sql, principal, action, { ...choice, most: MOST })).map(({ id }) => id)
      : idsOf(asked);
  const reach = asked === null ? reachFor(principal, action) : principal.reach;
  return { asked, places: await findDocumentPlaces(sql, reach, chosen, { lock: !dryRun }) };
}

export type Refusal = "invalid_id" | "not_found" | "forbidden" | "wrong_space";

const messageOf = (code: Refusal, action: Action): string =>
  ({
    invalid_id: "This is not a document id.",
    not_found: missingMessage("document"),
    forbidden: RULES[action].denial,
    wrong_space: "The folder belongs to another space.",
  })[code];

/** Has the names of the API, because the answer is kept for repeats. */
export interface BulkSummary {
  readonly total: number;
  readonly accepted: number;
  readonly rejected: number;
  /** In the order of the ids that were asked for; for filters and folders only what was refused. */
  readonly results: z.input<typeof BulkResult>[];
}

/** @param outcomes of the documents that the caller reaches: null if it was done, else why not. */
export function summarize(
  asked: Asked,
  action: Action,
  outcomes: ReadonlyMap<string, Refusal | null>,
): BulkSummary {
  const all = asked ?? [...outcomes.keys()].map((id): AskedDocument => ({ sent: id, id }));
  const results = all.map(({ sent, id }) => {
    const code = id === null ? "invalid_id" : outcomes.has(id) ? outcomes.get(id)! : "not_found";
    const error = code === null ? null : { code, message: messageOf(code, action) };
    return { document_id: sent, success: error === null, error };
  });
  const refused = results.filter(({ success }) => !success);
  return {
    total: all.length,
    accepted: all.length - refused.length,
    rejected: refused.length,
    results: asked === null ? refused : results,
  };
}
