/** What every outbox can do: a table whose rows are work, for a workflow each, until they are complete. */
import type pg from "pg";
import { queryOnce } from "../pool.ts";
import { RUNNING_LEASE } from "./leases.ts";

export interface Outbox<Row extends { readonly id: string }> {
  /**
   * Leases rows that are not complete and have no lease to the caller. Two processes never lease the same
   * row.
   * @param organizationId null: rows of all organizations.
   */
  lease(system: pg.Pool, limit: number, organizationId: string | null): Promise<Row[]>;
  /** Renews the leases of rows whose workflows run, for {@link RUNNING_LEASE}. */
  noteStarted(system: pg.Pool, ids: readonly string[]): Promise<void>;
  /** Ends the leases of rows whose workflows could not be started: the next round may try again. */
  endLeases(system: pg.Pool, ids: readonly string[]): Promise<void>;
}

interface OutboxOptions {
  readonly table: "deletions" | "batches" | "operations";
  /** The statement that leases rows: `$1` bounds them, `$2` is an organization or null for all of them. */
  readonly lease: string;
}

export function defineOutbox<Row extends { readonly id: string }>({
  table,
  lease,
}: OutboxOptions): Outbox<Row> {
  const setLease = async (
    system: pg.Pool,
    ids: readonly string[],
    leasedFor: string | null,
  ): Promise<void> => {
    if (ids.length === 0) return;
    await queryOnce(
      system,
      `update ${table}
       set leased_until = now() + $2::interval
       where id = any($1::uuid[])`,
      [ids, leasedFor],
    );
  };
  return {
    async lease(system, limit, organizationId) {
      const values = [limit, organizationId];
      return (await queryOnce<Row>(system, { name: `${table}.lease`, text: lease, values })).rows;
    },
    noteStarted: (system, ids) => setLease(system, ids, RUNNING_LEASE),
    endLeases: (system, ids) => setLease(system, ids, null),
  };
}
