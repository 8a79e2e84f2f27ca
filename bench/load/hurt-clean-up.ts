/** Removes what the hostile tenant of bench:hurt has made. */
import { call, ended } from "../../test/support/clients/client.ts";
import { until } from "../../test/support/until.ts";
import { KEYS } from "../../test/support/tenants/tenants.ts";
import type { Sender } from "./hurt-inputs.ts";

/** A thousand deletions take half a minute, a thousand batches two minutes. */
const CLEAN_MS = 300_000;

/**
 * Deletes what the sender has made, so that the next input begins on a quiet system.
 * @returns how many documents had not ended within `waitMs`
 */
export async function cleanUp({ stack, documents }: Sender, waitMs: number): Promise<number> {
  const deadline = performance.now() + waitMs;
  let left = 0;
  for (const id of documents.splice(0)) {
    const isOpen =
      performance.now() < deadline &&
      (await ended(stack.url, KEYS.editor, id, Math.max(1, deadline - performance.now())).then(
        () => false,
        () => true,
      ));
    if (isOpen || performance.now() >= deadline) left += 1;
    await call(stack.url, KEYS.editor, "DELETE", `/data/${id}`);
  }
  await until(
    "the sender's deletions and batches are over",
    async () => {
      const { rows } = await stack.database.db.owner.query(
        `select 1 from deletions where completed_at is null
         union all
         select 1 from batches where completed_at is null
         limit 1`,
      );
      return rows.length === 0;
    },
    CLEAN_MS,
  );
  return left;
}
