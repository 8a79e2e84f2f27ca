/** The only place where two connections read the same state of the database. */
import { type Database, type OrganizationKey, type Sql, inTenant, inTransaction } from "../pool.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const SNAPSHOT = /^[0-9A-F-]+$/;

/** Opens the second of the connections, in the snapshot of the first. */
export type Beside = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;

/**
 * Runs `work` in a tenant's transaction whose snapshot `beside` opens again on a second connection, for queries side by side.
 * Callers bound how many of these run at once to half of the pool: one holds a connection while it asks for the other.
 */
export async function inTwoTenantReads<T>(db: Database, organization: OrganizationKey, work: (sql: Sql, beside: Beside) => Promise<T>): Promise<T> {
  return inTenant(
    db,
    organization,
    async (sql) => {
      const snapshot = (await sql.query<{ id: string }>("select pg_export_snapshot() as id")).rows[0]!.id;
      return work(sql, (second) => inTransaction(db.app, second, beginIn(snapshot, organization)));
    },
    "isolation level repeatable read",
  );
}

/** A snapshot is taken over before anything is read, so before the tenant is set. */
function beginIn(snapshot: string, organization: OrganizationKey): string {
  if (!SNAPSHOT.test(snapshot) || !UUID.test(organization.id) || !Number.isInteger(organization.num)) throw new TypeError("not a snapshot of an organization");
  return `begin isolation level repeatable read read only; set transaction snapshot '${snapshot}';
    select set_config('app.organization_id', '${organization.id}', true), set_config('app.organization_num', '${organization.num}', true)`;
}
