/** What is done to many documents at once. */
import type { Holdfast } from "@holdfast/client";
import { answerOf } from "../../api/client.ts";
import type { Deletion } from "../../parts/confirm-deletion.tsx";
import { type Outcomes, inParallel } from "./in-parallel.ts";

const path = (id: string) => ({ path: { document_id: id } });

export const moveDocuments = (
  { api }: Holdfast,
  ids: readonly string[],
  folderId: string | null,
): Promise<Outcomes<unknown>> =>
  inParallel(ids, (id) =>
    answerOf(api.PATCH("/v1/data/{document_id}", { params: path(id), body: { folder_id: folderId } })),
  );

export const deleteDocuments = ({ api }: Holdfast, ids: readonly string[]): Promise<Outcomes<unknown>> =>
  inParallel(ids, (id) => answerOf(api.DELETE("/v1/data/{document_id}", { params: path(id) })));

/** The sum of the service's counts for each. @throws the first refusal */
export async function countDocuments({ api }: Holdfast, ids: readonly string[]): Promise<Deletion> {
  const { done, failures } = await inParallel(ids, (id) =>
    answerOf(api.GET("/v1/data/{document_id}/deletion", { params: path(id) })),
  );
  if (failures.length > 0) throw failures[0];
  const sum: Record<string, number> = {};
  for (const counts of done)
    for (const [kind, count] of Object.entries(counts)) sum[kind] = (sum[kind] ?? 0) + count;
  return sum;
}
