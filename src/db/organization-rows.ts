/** All SQL that removes an organization's rows from every table there is, as the catalogue names them, and reads back that none is left. */
import { type Database, type OrganizationKey, queryOnce } from "./pool.ts";

const ROWS_A_STATEMENT = 5_000;
const STILL_REFERRED_TO = "23503";

interface TenantTable {
  readonly name: string;
  readonly column: "organization_id" | "organization_num";
}

/** Tables and partitions with rows of organizations; its keys and the organization itself, which go last, are left out. */
async function tenantTables(db: Database): Promise<TenantTable[]> {
  const { rows } = await queryOnce<TenantTable>(
    db.owner,
    `select distinct on (c.oid) c.oid::regclass::text as name, a.attname as column from pg_class c join pg_attribute a on a.attrelid = c.oid and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attname in ('organization_id', 'organization_num')
       and c.relname not in ('organizations', 'organization_keys') order by c.oid, a.attname`,
  );
  return rows;
}

const valueOf = (organization: OrganizationKey, { column }: TenantTable): string | number => (column === "organization_id" ? organization.id : organization.num);

/** Deletes everything, table by table, what others refer to after what refers to it. Idempotent. @returns rows deleted, by table. */
export async function deleteOrganizationRows(db: Database, organization: OrganizationKey): Promise<Record<string, number>> {
  const deleted: Record<string, number> = {};
  await queryOnce(db.owner, "update folders set parent_folder_id = null where organization_id = $1 and parent_folder_id is not null", [organization.id]);
  for (let left = await tenantTables(db); left.length > 0;) {
    const later: TenantTable[] = [];
    for (const table of left) {
      const count = await deleteFrom(db, table, valueOf(organization, table));
      if (count === null) later.push(table);
      else if (count > 0) deleted[table.name] = count;
    }
    if (later.length === left.length) throw new Error("the organization's rows refer to one another in a circle");
    left = later;
  }
  return deleted;
}

/** @returns null where other rows still refer to some. */
async function deleteFrom(db: Database, { name, column }: TenantTable, value: string | number): Promise<number | null> {
  let total = 0;
  try {
    for (;;) {
      const { rowCount } = await queryOnce(db.owner, `delete from ${name} where ctid = any(array(select ctid from ${name} where ${column} = $1 limit ${ROWS_A_STATEMENT}))`, [
        value,
      ]);
      total += rowCount ?? 0;
      if ((rowCount ?? 0) < ROWS_A_STATEMENT) return total;
    }
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === STILL_REFERRED_TO) return null;
    throw error;
  }
}

/** @returns how many rows are left in all tables, keys included. */
export async function countOrganizationRows(db: Database, organization: OrganizationKey): Promise<number> {
  const tables: TenantTable[] = [...(await tenantTables(db)), { name: "organization_keys", column: "organization_id" }];
  let left = 0;
  for (const table of tables) {
    const { rows } = await queryOnce<{ count: number }>(db.owner, `select count(*)::int as count from ${table.name} where ${table.column} = $1`, [valueOf(organization, table)]);
    left += rows[0]?.count ?? 0;
  }
  return left;
}

/** Shreds: nothing that was encrypted for the organization can be read from here on. */
export async function deleteOrganizationKeys(db: Database, organization: OrganizationKey): Promise<number> {
  return (await queryOnce(db.owner, "delete from organization_keys where organization_id = $1", [organization.id])).rowCount ?? 0;
}

export async function deleteOrganizationRow(db: Database, organization: OrganizationKey): Promise<void> {
  await queryOnce(db.owner, "delete from organizations where id = $1 and deleted_at is not null", [organization.id]);
}

export async function listOrganizations(db: Database): Promise<Array<{ id: string; name: string; created_at: Date }>> {
  return (await queryOnce<{ id: string; name: string; created_at: Date }>(db.owner, "select id, name, created_at from organizations where deleted_at is null order by num")).rows;
}
