/**
 * Remembers that a transaction writes events, so that they are placed as soon as it has committed. What is
 * not noted, such as what another version writes, is found by a sweep within about a second.
 */
import type pg from "pg";
import type { Sql } from "../sql.ts";

type Listener = (organizationId: string) => void;

const noted = new WeakMap<Sql, Set<string>>();
const listeners = new WeakMap<pg.Pool, Listener>();

/** Says that the transaction writes events of the organization. If it fails, nothing comes of it. */
export function noteEvents(sql: Sql, organizationId: string): void {
  const organizations = noted.get(sql) ?? new Set();
  organizations.add(organizationId);
  noted.set(sql, organizations);
}

/** Calls `listener` for each organization after the commit of a transaction that was noted. */
export function onNotedEvents(pools: Iterable<pg.Pool>, listener: Listener): void {
  for (const pool of pools) listeners.set(pool, listener);
}

/** Call it after the commit. */
export function tellNoted(pool: pg.Pool, sql: Sql): void {
  const organizations = noted.get(sql);
  if (organizations === undefined) return;
  const listener = listeners.get(pool);
  for (const organizationId of organizations) listener?.(organizationId);
}
