/** All SQL of back-ups: how many rows there are of what, and whether a database is one to restore into. */
import { TABLES, VECTOR_TABLES } from "../access/declared.ts";
import {
  inTenant,
  type Database,
  type OrganizationKey,
  type OwnerDatabase,
  queryOnce,
  type Sql,
} from "../pool.ts";

export interface RowCounts {
  /** By table. */
  readonly rows: Record<string, number>;
  readonly organizations: Array<{
    readonly id: string;
    readonly is_deleted: boolean;
    readonly rows: Record<string, number>;
  }>;
}

/**
 * Rate limits are of the running minute. Vectors are never read with the owner's rights, since what is planted on their tables would run with them; `backup verify` holds
 * them against their documents.
 */
const NOT_COUNTED: readonly string[] = ["rate_limits", "embeddings"];
const COUNTED = Object.keys(TABLES).filter((table) => !NOT_COUNTED.includes(table));

/** By which column the rows of a table are an organization's; undefined where they are the instance's. */
function organizationColumn(table: string): string | undefined {
  return TABLES[table]!.policies.find(({ role }) => role === "app")?.using?.split(" ")[0];
}

/**
 * Counts everything but vectors with the owner's rights, in the transaction of `sql`. Reads every table once.
 * @param only tables to count, of those that this version counts: a schema that is yet to be migrated lacks some. All of them where it is not given.
 */
export async function countAllRows(sql: Sql, only: readonly string[] = COUNTED): Promise<RowCounts> {
  await sql.query("set local row_security = off");
  const { rows: known } = await sql.query<{ id: string; num: number; is_deleted: boolean }>(
    "select id, num, deleted_at is not null as is_deleted from organizations order by num",
  );
  const organizations = known.map(({ id, is_deleted }) => ({
    id,
    is_deleted,
    rows: {} as Record<string, number>,
  }));
  const byKey = new Map(
    known.flatMap(({ id, num }, index) => [
      [id, organizations[index]!] as const,
      [String(num), organizations[index]!] as const,
    ]),
  );
  const total: Record<string, number> = {};
  for (const table of COUNTED.filter((one) => only.includes(one))) {
    const column = organizationColumn(table) ?? "''";
    const { rows } = await sql.query<{ key: string | null; count: number }>(
      `select ${column}::text as key, count(*) as count from ${table} group by 1`,
    );
    total[table] = rows.reduce((sum, { count }) => sum + count, 0);
    for (const { key, count } of rows) {
      const organization = byKey.get(key ?? "");
      if (organization !== undefined) organization.rows[table] = count;
    }
  }
  return { rows: total, organizations };
}

/** Counts one organization's rows with the application's login. */
export async function countOwnRows(
  db: Database,
  organization: OrganizationKey,
): Promise<Record<string, number>> {
  return inTenant(db, organization, async (sql) => {
    await sql.query("set local statement_timeout = '1h'");
    const counts: Record<string, number> = {};
    for (const table of COUNTED.filter((one) => organizationColumn(one) !== undefined)) {
      const { rows } = await sql.query<{ count: number }>(`select count(*) as count from ${table}`);
      counts[table] = rows[0]!.count;
    }
    return counts;
  });
}

/** Tables of no organization that maintenance may read. */
const OF_INSTANCE = COUNTED.filter(
  (table) =>
    TABLES[table]!.policies.length === 0 && TABLES[table]!.grants.maintenance?.split(", ").includes("select"),
);

/** Counts what belongs to no organization, such as the instance's secrets, with the login of maintenance. */
export async function countInstanceRows(db: Database): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of OF_INSTANCE)
    counts[table] = (
      await queryOnce<{ count: number }>(db.maintenance, `select count(*) as count from ${table}`)
    ).rows[0]!.count;
  return counts;
}

export interface Server {
  /** As Postgres numbers them. */
  readonly version: number;
  readonly hasVectors: boolean;
  /** Tables and schemas of ours that are there. */
  readonly taken: string[];
  /** Whether a pg_dump or pg_restore of ours is at work in the database: one whose command was killed goes on, and commits. */
  readonly isBusy: boolean;
}

/** What programs of Postgres call themselves that a back-up runs. */
export const BACKUP_APPLICATION = "holdfast backup";

/** What a restore must know of the server and the database. */
export async function describeServer(db: OwnerDatabase): Promise<Server> {
  const { rows } = await queryOnce<Server>(
    db.owner,
    `select current_setting('server_version_num')::int as version, exists (select from pg_available_extensions where name = 'vector') as "hasVectors",
       array(select n.nspname || '.' || c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname || '.' || c.relname = any($1)
         union all select 'schema ' || nspname from pg_namespace where nspname = 'vectors' order by 1 limit 3) as taken,
       exists (select from pg_stat_activity where datname = current_database() and application_name = $2) as "isBusy"`,
    [[...Object.keys(TABLES).map((table) => `public.${table}`), ...VECTOR_TABLES], BACKUP_APPLICATION],
  );
  return rows[0]!;
}
