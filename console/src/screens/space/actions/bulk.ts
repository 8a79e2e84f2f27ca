/** What is done with many documents at once. */
import { type Holdfast, newKey } from "@holdfast/client";
import { answerOf } from "../../../api/client.ts";
import type { Question } from "../list/question.ts";
import type { Selection } from "../list/selection.ts";

/**
 * The documents of an action: by their ids, all that filters find, or those of folders and all folders below.
 */
export type Target =
  | { readonly document_ids: readonly string[] }
  | { readonly filters: Readonly<Record<string, unknown>> }
  | { readonly folder_ids: readonly string[] };

export interface Outcome {
  readonly accepted: number;
  readonly rejected: number;
  /** What the service said of the first that it refused. */
  readonly reason: string | null;
}

export const targetOf = (selection: Selection, { filters }: Question): Target =>
  selection.kind === "all" ? { filters } : { document_ids: [...selection.ids] };

function bodyOf(target: Target) {
  if ("filters" in target) return target;
  if ("folder_ids" in target) return { folder_ids: [...target.folder_ids] };
  return { document_ids: [...target.document_ids] };
}

/** Sent again with the same key after a fault, so that it is done once. */
const once = () => ({ header: { "Idempotency-Key": newKey() } });

interface Answer {
  readonly accepted: number;
  readonly rejected: number;
  readonly results: ReadonlyArray<{ readonly error: { readonly message: string } | null }>;
}

const outcomeOf = ({ accepted, rejected, results }: Answer): Outcome => ({
  accepted,
  rejected,
  reason: results.find(({ error }) => error !== null)?.error?.message ?? null,
});

export const reprocess = async ({ api }: Holdfast, target: Target): Promise<Outcome> =>
  outcomeOf(await answerOf(api.POST("/v1/data/batch-reprocess", { params: once(), body: bodyOf(target) })));

export const move = async ({ api }: Holdfast, target: Target, folderId: string | null): Promise<Outcome> => {
  const body = { ...bodyOf(target), folder_id: folderId };
  return outcomeOf(await answerOf(api.POST("/v1/data/batch-move", { params: once(), body })));
};

export const remove = async ({ api }: Holdfast, target: Target): Promise<Outcome> =>
  outcomeOf(await answerOf(api.POST("/v1/data/batch-delete", { params: once(), body: bodyOf(target) })));

/** What a deletion of these takes along, as the service counts it. */
export async function deletionOf(
  { api }: Holdfast,
  target: Target,
): Promise<Readonly<Record<string, number>>> {
  const body = { ...bodyOf(target), dry_run: true };
  const { deletion } = await answerOf(api.POST("/v1/data/batch-delete", { body }));
  return deletion;
}
