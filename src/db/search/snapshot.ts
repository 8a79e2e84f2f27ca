/** Lets two connections read the same state of the database, for queries that run at the same time. */
import { type Database, type OrganizationRef, type Sql, asTenant, inTransaction } from "../pool.ts";

const SNAPSHOT = /^[0-9A-F-]+$/;

/** Runs `work` on the second connection once it is open, and ends the use of it afterwards. */
export type OnSecondConnection = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;

/**
 * Runs `work` in a transaction of the tenant, and opens its snapshot on a second connection at the
 * same time. `work` may use that connection once. Each call holds one connection while it waits for another,
 * so callers must bound the calls at the same time to half of the pool.
 * @see https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-SNAPSHOT-SYNCHRONIZATION
 */
export async function inTwoTenantReads<T>(
  db: Database,
  organization: OrganizationRef,
  work: (sql: Sql, onSecond: OnSecondConnection) => Promise<T>,
): Promise<T> {
  return inTransaction(
    db.app,
    async (sql, [begun]) => {
      const opened = Promise.withResolvers<Sql>();
      const used = Promise.withResolvers<void>();
      const second = inTransaction(
        db.app,
        async (other) => {
          opened.resolve(other);
          await used.promise;
        },
        beginIn(begun!["snapshot"], organization),
      );
      second.catch(opened.reject);
      opened.promise.catch(() => undefined);
      try {
        return await work(sql, async (other) => {
          try {
            return await other(await opened.promise);
          } finally {
            used.resolve();
          }
        });
      } finally {
        used.resolve();
        // If the second connection failed, its user has the error; if nobody used it, it does not matter.
        await second.catch(() => undefined);
      }
    },
    `begin isolation level repeatable read;
     select pg_export_snapshot() as snapshot, ${asTenant(organization)}`,
  );
}

/** Postgres imports a snapshot only before the first query of a transaction, so before the tenant is set. */
function beginIn(snapshot: unknown, organization: OrganizationRef): string {
  if (typeof snapshot !== "string" || !SNAPSHOT.test(snapshot)) throw new TypeError("not a snapshot");
  return `begin isolation level repeatable read read only;
          set transaction snapshot '${snapshot}';
          select ${asTenant(organization)}`;
}
