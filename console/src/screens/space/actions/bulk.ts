/** What is done with many documents at once. */
import { type Holdfast, HoldfastError, newKey } from "@holdfast/client";
import { answerOf } from "../../../api/client.ts";
import type { Question } from "../list/question.ts";
import type { Selection } from "../list/selection.ts";

/** The documents of an action: by their ids, or all that filters find. */
export type Target =
  | { readonly document_ids: readonly string[] }
  | { readonly filters: Readonly<Record<string, unknown>> };

export interface Outcome {
  readonly accepted: number;
  readonly rejected: number;
  /** What the service said of the first that it refused. */
  readonly reason: string | null;
}

export const targetOf = (selection: Selection, { filters }: Question): Target =>
  selection.kind === "all" ? { filters } : { document_ids: [...selection.ids] };

export async function reprocess({ api }: Holdfast, target: Target): Promise<Outcome> {
  const params = { header: { "Idempotency-Key": newKey() } };
  const body = "filters" in target ? target : { document_ids: [...target.document_ids] };
  const { accepted, rejected, results } = await answerOf(
    api.POST("/v1/data/batch-reprocess", { params, body }),
  );
  return { accepted, rejected, reason: results.find(({ error }) => error !== null)?.error?.message ?? null };
}

export const move = (holdfast: Holdfast, target: Target, folderId: string | null): Promise<Outcome> =>
  forEach(holdfast, target, (id) =>
    answerOf(
      holdfast.api.PATCH("/v1/data/{document_id}", {
        params: { path: { document_id: id } },
        body: { folder_id: folderId },
      }),
    ),
  );

export const remove = (holdfast: Holdfast, target: Target): Promise<Outcome> =>
  forEach(holdfast, target, (id) =>
    answerOf(holdfast.api.DELETE("/v1/data/{document_id}", { params: { path: { document_id: id } } })),
  );

const AT_ONCE = 4;

async function forEach(
  holdfast: Holdfast,
  target: Target,
  act: (id: string) => Promise<unknown>,
): Promise<Outcome> {
  const left = await idsOf(holdfast, target);
  let accepted = 0;
  const refusals: HoldfastError[] = [];
  const work = async (): Promise<void> => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      try {
        await act(id);
        accepted += 1;
      } catch (error) {
        if (!(error instanceof HoldfastError)) throw error;
        refusals.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { accepted, rejected: refusals.length, reason: refusals[0]?.message ?? null };
}

async function idsOf(holdfast: Holdfast, target: Target): Promise<string[]> {
  if ("document_ids" in target) return [...target.document_ids];
  const ids: string[] = [];
  for await (const { id } of holdfast.documents({ filters: target.filters })) ids.push(id);
  return ids;
}

/** So many are counted one by one; of more only how many they are. */
const COUNTED = 100;

/** What a deletion of these takes along, as the service counts it. */
export async function deletionOf(
  { api }: Holdfast,
  target: Target,
): Promise<Readonly<Record<string, number>>> {
  if ("document_ids" in target && target.document_ids.length <= COUNTED) {
    const sum: Record<string, number> = {};
    const left = [...target.document_ids];
    const work = async (): Promise<void> => {
      for (let id = left.pop(); id !== undefined; id = left.pop()) {
        const params = { path: { document_id: id } };
        const counts = await answerOf(api.GET("/v1/data/{document_id}/deletion", { params }));
        for (const [kind, count] of Object.entries(counts)) sum[kind] = (sum[kind] ?? 0) + count;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return sum;
  }
  const filters = "filters" in target ? target.filters : { id__in: target.document_ids };
  const params = { query: { limit: 1 } };
  const { total_items: documents } = await answerOf(
    api.POST("/v1/data/search", { params, body: { filters } }),
  );
  return { documents };
}
