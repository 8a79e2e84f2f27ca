/** Runs a transaction again if Postgres chose it to break a deadlock. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Database, type OrganizationRef, type Sql, inTenant } from "./pool.ts";

const ATTEMPTS = 5;
const PAUSE_MS = 20;
const DEADLOCK = "40P01";

/**
 * Like {@link inTenant}, for work that locks rows of several documents or runs while the pipeline locks them
 * too. It runs up to five times, so it must change nothing outside the database.
 */
export async function inTenantContended<T>(
  db: Database,
  organization: OrganizationRef,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await inTenant(db, organization, work);
    } catch (error) {
      const isDeadlock = error instanceof Error && "code" in error && error.code === DEADLOCK;
      if (!isDeadlock || attempt === ATTEMPTS) throw error;
      await sleep(PAUSE_MS * attempt);
    }
  }
}
