/**
 * The leases of outbox rows. A process that takes a row leases it before starting its workflow, so that no
 * second process starts it at the same time.
 * @see https://microservices.io/patterns/data/transactional-outbox.html
 */
import { DEADLINES } from "#timings";
import type pg from "pg";
import { queryOnce } from "../pool.ts";

/**
 * The lease of a row whose workflow is about to be started. Longer than a start may take; if the process dies
 * between leasing and starting, the start is delayed by this much.
 */
export const START_LEASE = `${DEADLINES.startLease} milliseconds`;
/**
 * The lease of a row whose workflow runs; after it some process asks Temporal what became of the workflow.
 */
export const RUNNING_LEASE = `${DEADLINES.runningLease} milliseconds`;

/** Tables whose rows are work until they are complete. */
export type Outbox = "deletions" | "batches" | "operations";

const RENEW_LEASES: Readonly<Record<Outbox, string>> = {
  deletions: `update deletions
              set leased_until = now() + interval '${RUNNING_LEASE}'
              where id = any($1::uuid[])`,
  batches: `update batches
            set leased_until = now() + interval '${RUNNING_LEASE}'
            where id = any($1::uuid[])`,
  operations: `update operations
               set leased_until = now() + interval '${RUNNING_LEASE}'
               where id = any($1::uuid[])`,
};

const END_LEASES: Readonly<Record<Outbox, string>> = {
  deletions: `update deletions
              set leased_until = null
              where id = any($1::uuid[])`,
  batches: `update batches
            set leased_until = null
            where id = any($1::uuid[])`,
  operations: `update operations
               set leased_until = null
               where id = any($1::uuid[])`,
};

/** Renews the leases of rows whose workflows run, for {@link RUNNING_LEASE}. */
export async function noteStarted(system: pg.Pool, outbox: Outbox, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await queryOnce(system, RENEW_LEASES[outbox], [ids]);
}

/**
 * Ends the leases of rows whose workflows could not be started, so that the next round may try again at once.
 */
export async function endLeases(system: pg.Pool, outbox: Outbox, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await queryOnce(system, END_LEASES[outbox], [ids]);
}
