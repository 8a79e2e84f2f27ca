/** The documents that a batch was asked for by their ids, and what is answered about each. */
import type { z } from "zod";
import { RULES } from "../../auth/policy.ts";
import { missingMessage } from "../../domain/not-found.ts";
import { Uuid } from "../../schema/fields.ts";
import type { BatchResult } from "../../schema/documents/run.ts";

/** One element of the list of ids. */
export interface AskedDocument {
  /** As it was sent. */
  readonly sent: unknown;
  /** In lower case; null if what was sent is no id. */
  readonly id: string | null;
}

/** Has the names of the API, because the answer is kept for repeats. */
export type DocumentResult = z.input<typeof BatchResult>;

const REFUSALS = {
  invalid_id: { code: "invalid_id", message: "This is not a document id." },
  not_found: { code: "not_found", message: missingMessage("document") },
  forbidden: { code: "forbidden", message: RULES["documents:reprocess"].denial },
} as const;

/** The elements of the list in its order, each once. */
export function readAskedDocuments(elements: readonly unknown[]): AskedDocument[] {
  const distinct = new Map<string, AskedDocument>();
  for (const sent of elements) {
    const parsed = Uuid.safeParse(sent);
    const id = parsed.success ? parsed.data : null;
    const name = id ?? JSON.stringify(sent);
    if (!distinct.has(name)) distinct.set(name, { sent, id });
  }
  return [...distinct.values()];
}

export function idsOf(asked: readonly AskedDocument[]): string[] {
  return asked.flatMap(({ id }) => (id === null ? [] : [id]));
}

interface Decisions {
  /** The run that was queued, by the document's id. */
  readonly runs: ReadonlyMap<string, string>;
  /** Ids of documents that the caller reaches and may not process. */
  readonly forbidden: ReadonlySet<string>;
}

export function resultOf({ sent, id }: AskedDocument, { runs, forbidden }: Decisions): DocumentResult {
  const runId = id === null ? undefined : runs.get(id);
  if (runId !== undefined) return { document_id: sent, success: true, pipeline_run_id: runId, error: null };
  const error = REFUSALS[refusalOf(id, forbidden)];
  return { document_id: sent, success: false, pipeline_run_id: null, error };
}

function refusalOf(id: string | null, forbidden: ReadonlySet<string>): keyof typeof REFUSALS {
  if (id === null) return "invalid_id";
  return forbidden.has(id) ? "forbidden" : "not_found";
}
