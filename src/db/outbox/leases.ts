/** The only place that says who may start the workflow of an outbox row: whoever takes it leases it, briefly until it is started. */
import type pg from "pg";
import { queryOnce } from "../pool.ts";

/** Longer than a start may take; a process that dies between taking a row and starting its workflow delays it by so much. */
export const START_LEASE = "10 seconds";
/** Afterwards somebody asks Temporal again what became of it. */
export const RUNNING_LEASE = "60 seconds";

/** Tables whose rows are work until they are complete. */
export type Outbox = "deletions" | "batches" | "operations";

export const IS_DUE = "completed_at is null and (leased_until is null or leased_until < now())";

/** The workflows of these run. */
export async function noteStarted(system: pg.Pool, outbox: Outbox, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await queryOnce(
    system,
    `update ${outbox} set leased_until = now() + interval '${RUNNING_LEASE}' where id = any($1::uuid[])`,
    [ids],
  );
}

/** The workflows of these could not be started: the next round may try again at once. */
export async function endLeases(system: pg.Pool, outbox: Outbox, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await queryOnce(system, `update ${outbox} set leased_until = null where id = any($1::uuid[])`, [ids]);
}
