/** The only place where two connections read the same state of the database. */
import { type Database, type OrganizationKey, type Sql, asTenant, inTransaction } from "../pool.ts";

const SNAPSHOT = /^[0-9A-F-]+$/;

/** Runs work on the second connection, which is open by then or soon, and gives the connection back without waiting for that. */
export type Beside = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;

/**
 * Runs `work` in a tenant's transaction whose snapshot is opened again on a second connection at once, for queries side by side; `beside`
 * may be called once. Callers bound how many of these run at once to half of the pool: one holds a connection while it asks for the other.
 */
export async function inTwoTenantReads<T>(
  db: Database,
  organization: OrganizationKey,
  work: (sql: Sql, beside: Beside) => Promise<T>,
): Promise<T> {
  return inTransaction(
    db.app,
    async (sql, [begun]) => {
      const [opened, used] = [Promise.withResolvers<Sql>(), Promise.withResolvers<void>()];
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
        // Its failure was told to who used it; to who did not it is none.
        await second.catch(() => undefined);
      }
    },
    `begin isolation level repeatable read; select pg_export_snapshot() as snapshot, ${asTenant(organization)}`,
  );
}

/** A snapshot is taken over before anything is read, so before the tenant is set. */
function beginIn(snapshot: unknown, organization: OrganizationKey): string {
  if (typeof snapshot !== "string" || !SNAPSHOT.test(snapshot)) throw new TypeError("not a snapshot");
  return `begin isolation level repeatable read read only; set transaction snapshot '${snapshot}'; select ${asTenant(organization)}`;
}
