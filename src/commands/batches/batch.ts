/** What the commands of batches share: which batches a caller may see or change. */
import { authorize } from "../../auth/policy.ts";
import { type BatchRow, findBatch } from "../../db/runs/batches.ts";
import type { Sql } from "../../db/pool.ts";
import { notFound } from "../../domain/not-found.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";

/**
 * Reads a batch that the caller started, if the caller still reaches all of its spaces but deleted ones.
 * @throws DomainError `not_found`, `permission_denied`
 */
export async function readBatch(
  sql: Sql,
  principal: Principal,
  action: "documents:read" | "documents:reprocess",
  id: string,
): Promise<BatchRow> {
  const batch = await findBatch(sql, principal, id);
  if (batch === undefined) throw notFound("batch");
  for (const spaceId of batch.space_ids) authorize(principal, action, { space_id: spaceId }, "batch");
  return batch;
}
