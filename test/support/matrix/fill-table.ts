/**
 * Inserts a row of any organization into any tenant table, as the catalogue describes it, for proofs that
 * cover every table.
 */
import type { OrganizationRef } from "../../../src/db/pool.ts";
import type { OwnedDatabase } from "../servers/database.ts";

interface TenantTable {
  readonly name: string;
  /** The column that names the row's organization, and which part of the organization's key it holds. */
  readonly column: { readonly name: string; readonly key: "id" | "num" };
}

/**
 * Lists every table of `public` whose rows belong to organizations; partitions are reached through their
 * parent.
 */
export async function tenantTables({ owner }: OwnedDatabase): Promise<TenantTable[]> {
  const { rows } = await owner.query<{ name: string; column: string }>(
    `select distinct on (class.relname)
       class.relname as name,
       case when class.relname = 'organizations' then 'id' else attribute.attname end as column
     from pg_class class
     join pg_attribute attribute on attribute.attrelid = class.oid and not attribute.attisdropped
     where class.relnamespace = 'public'::regnamespace
       and class.relkind in ('r', 'p')
       and not class.relispartition
       and (attribute.attname in ('organization_id', 'organization_num') or class.relname = 'organizations')
     order by class.relname, attribute.attname`,
  );
  return rows.map(({ name, column }) => ({
    name,
    column: { name: column, key: column === "organization_num" ? "num" : "id" },
  }));
}

const VALUES: Readonly<Record<string, string>> = {
  uuid: "gen_random_uuid()",
  smallint: "1",
  integer: "1",
  bigint: "1",
  real: "0",
  "double precision": "0",
  boolean: "false",
  text: "gen_random_uuid()::text",
  bytea: "uuid_send(gen_random_uuid())",
  jsonb: "'{}'",
  "timestamp with time zone": "now()",
  date: "current_date",
  inet: "'192.0.2.1'",
  halfvec: "'[1]'",
};

/**
 * Builds the statement that inserts a row of the organization whose id or number is `$1`. Columns that may be
 * null stay null.
 */
export async function insertStatement(
  { owner }: OwnedDatabase,
  { name, column }: TenantTable,
): Promise<string> {
  const { rows } = await owner.query<{ name: string; type: string }>(
    `select quote_ident(attname) as name,
       regexp_replace(format_type(atttypid, atttypmod), '\\(\\d+\\)', '') as type
     from pg_attribute
     where attrelid = $1::regclass
       and attnum > 0
       and not attisdropped
       and attnotnull
       and not atthasdef
       and attidentity = ''
       and attname <> $2`,
    [name, column.name],
  );
  const values = rows.map(({ name: needed, type }) => {
    const value = type.endsWith("[]") ? "'{}'" : VALUES[type];
    if (value === undefined)
      throw new Error(`${name}.${needed} has the type ${type}: say which value a row may have`);
    return value;
  });
  const columns = [column.name, ...rows.map((row) => row.name)].join(", ");
  return `insert into ${name} (${columns}) values (${["$1", ...values].join(", ")})`;
}

/**
 * Inserts a row, after dropping the table's check constraints and ignoring its foreign keys: the row has to
 * belong to the organization, and needs no other validity.
 */
export async function fillTable(
  db: OwnedDatabase,
  table: TenantTable,
  organization: OrganizationRef,
): Promise<void> {
  const client = await db.owner.connect();
  try {
    await client.query("set session_replication_role = replica");
    const { rows: checks } = await client.query<{ name: string }>(
      `select quote_ident(conname) as name
       from pg_constraint
       where conrelid = $1::regclass and contype = 'c'`,
      [table.name],
    );
    for (const check of checks) await client.query(`alter table ${table.name} drop constraint ${check.name}`);
    await client.query(await insertStatement(db, table), [organization[table.column.key]]);
  } finally {
    client.release(true);
  }
}
