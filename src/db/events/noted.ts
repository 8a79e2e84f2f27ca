/**
 * Remembers that a transaction writes events, so that they are placed as soon as it has committed. What is
 * not noted, such as what another version writes, is found by a sweep within about a second.
 */
import type pg from "pg";
import type { Sql } from "../sql.ts";

type Listener = (organizationId: string) => void;

/** What is known of a transaction. A pool gives its connection to other transactions afterwards. */
interface Transaction {
  readonly noted: Set<string>;
  /** The one organization that it sees, if it is a tenant's. */
  tenantId?: string;
}

const transactions = new WeakMap<Sql, Transaction>();
const listeners = new WeakMap<pg.Pool, Listener>();

function transactionOf(sql: Sql): Transaction {
  const known = transactions.get(sql);
  if (known !== undefined) return known;
  const begun: Transaction = { noted: new Set() };
  transactions.set(sql, begun);
  return begun;
}

/** Says whose transaction it is, for {@link noteTenantEvents}. */
export function setTenantOf(sql: Sql, organizationId: string): void {
  transactionOf(sql).tenantId = organizationId;
}

/** Says that the transaction writes events of the organization. If it fails, nothing comes of it. */
export function noteEvents(sql: Sql, organizationId: string): void {
  transactionOf(sql).noted.add(organizationId);
}

/** {@link noteEvents} for statements that do not know the organization; outside a tenant, does nothing. */
export function noteTenantEvents(sql: Sql): void {
  const { noted, tenantId } = transactionOf(sql);
  if (tenantId !== undefined) noted.add(tenantId);
}

/** Calls `listener` for each organization after the commit of a transaction that was noted. */
export function onNotedEvents(pools: Iterable<pg.Pool>, listener: Listener): void {
  for (const pool of pools) listeners.set(pool, listener);
}

/** Call it after the commit, and `forgetNoted` in any case. */
export function tellNoted(pool: pg.Pool, sql: Sql): void {
  const noted = transactions.get(sql)?.noted;
  if (noted === undefined) return;
  const listener = listeners.get(pool);
  for (const organizationId of noted) listener?.(organizationId);
}

/** Call it when the transaction is over, before its connection serves another. */
export function forgetNoted(sql: Sql): void {
  transactions.delete(sql);
}
