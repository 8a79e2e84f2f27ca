/** Counts rows for backups, and finds out whether a database can be restored into. */
import { TABLES, VECTOR_TABLES } from "../access/declared.ts";
import {
  inTenant,
  type Database,
  type OrganizationRef,
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
 * Rate limits change every minute. Vectors are never read with the owner's rights, because code that is
 * planted on their tables would run with those; `backup verify` compares them with their documents instead.
 */
const NOT_COUNTED: readonly string[] = ["rate_limits", "embeddings"];
const COUNTED = Object.keys(TABLES).filter((table) => !NOT_COUNTED.includes(table));

/** @returns the column that names a row's organization; undefined if the table belongs to the instance. */
function organizationColumn(table: string): string | undefined {
  return TABLES[table]!.policies.find(({ role }) => role === "app")?.using?.split(" ")[0];
}

/**
 * Counts everything but vectors with the owner's rights, in the transaction of `sql`. Reads every table once.
 * @param only counts these tables and no others. A schema that is not migrated yet lacks some. Default: all
 *   that this version counts.
 */
export async function countAllRows(sql: Sql, only: readonly string[] = COUNTED): Promise<RowCounts> {
  await sql.query("set local row_security = off");
  const { rows: known } = await sql.query<{ id: string; num: number; is_deleted: boolean }>(
    `select id, num, deleted_at is not null as is_deleted
     from organizations
     order by num`,
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
      `select ${column}::text as key, count(*) as count
       from ${table}
       group by 1`,
    );
    total[table] = rows.reduce((sum, { count }) => sum + count, 0);
    for (const { key, count } of rows) {
      const organization = byKey.get(key ?? "");
      if (organization !== undefined) organization.rows[table] = count;
    }
  }
  return { rows: total, organizations };
}

/** Counts one organization's rows, by table, with the application's login, within an hour each. */
export async function countOwnRows(
  db: Database,
  organization: OrganizationRef,
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

const INSTANCE_TABLES = COUNTED.filter(
  (table) =>
    TABLES[table]!.policies.length === 0 && TABLES[table]!.grants.maintenance?.split(", ").includes("select"),
);

/** Counts what belongs to no organization, such as secrets, by table, with the login `maintenance`. */
export async function countInstanceRows(db: Database): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of INSTANCE_TABLES) {
    const { rows } = await queryOnce<{ count: number }>(
      db.maintenance,
      `select count(*) as count from ${table}`,
    );
    counts[table] = rows[0]!.count;
  }
  return counts;
}

export interface Server {
  /** As Postgres counts: 180006 is 18.6. */
  readonly version: number;
  /** Whether the extension `vector` can be installed. */
  readonly hasVectors: boolean;
  /** Up to three of our tables and schemas that exist already. */
  readonly taken: string[];
  /** Whether a pg_dump or pg_restore of ours runs: it goes on and commits when its command was killed. */
  readonly isBusy: boolean;
}

/** The application name of the pg_dump and pg_restore that a backup runs. */
export const BACKUP_APPLICATION = "holdfast backup";

/** Finds out what a restore must know about the server and the database. */
export async function describeServer(db: OwnerDatabase): Promise<Server> {
  const { rows } = await queryOnce<Server>(
    db.owner,
    `select current_setting('server_version_num')::int as version,
            exists (select from pg_available_extensions where name = 'vector') as "hasVectors",
            array(
              select schema.nspname || '.' || relation.relname
              from pg_class relation
              join pg_namespace schema on schema.oid = relation.relnamespace
              where relation.relkind in ('r', 'p', 'v', 'm', 'f')
                and schema.nspname || '.' || relation.relname = any($1)
              union all
              select 'schema ' || nspname
              from pg_namespace
              where nspname = 'vectors'
              order by 1
              limit 3
            ) as taken,
            exists (
              select
              from pg_stat_activity
              where datname = current_database()
                and application_name = $2
            ) as "isBusy"`,
    [[...Object.keys(TABLES).map((table) => `public.${table}`), ...VECTOR_TABLES], BACKUP_APPLICATION],
  );
  return rows[0]!;
}
