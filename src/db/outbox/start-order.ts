/** Leases the outbox rows that are started next, and shares the starts among organizations. */
import type pg from "pg";
import { queryOnce } from "../pool.ts";

/** An outbox row that the caller has leased. */
export interface LeasedRow {
  readonly id: string;
  readonly organization: { readonly id: string; readonly num: number };
}

interface DueRowsQuestion {
  /** Rows of all organizations together. */
  readonly limit: number;
  /** Null: all organizations. */
  readonly organizationId: string | null;
}

/**
 * Leases rows that are not complete and have no lease: those that were started before, and the oldest others
 * as far as their organization has room. Two processes never lease the same row. The room is counted without
 * a lock, so processes that count at the same time may exceed it, each by as much.
 *
 * `test/db/outbox/start-order.database.test.ts` shows the order.
 * @param statement one of `due-rows.ts`.
 */
export async function leaseDueRows<Columns>(
  system: pg.Pool,
  statement: string,
  { limit, organizationId }: DueRowsQuestion,
): Promise<Array<LeasedRow & Columns>> {
  const { rows } = await queryOnce<
    Columns & { id: string; organization_id: string; organization_num: number }
  >(system, statement, [limit, organizationId]);
  return rows.map(
    ({ organization_id: id, organization_num: num, ...row }) =>
      ({ ...row, organization: { id, num } }) as LeasedRow & Columns,
  );
}
