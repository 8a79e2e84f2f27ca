/** All SQL that removes a closed organization's rows from every table there is, as the catalogue names them, and reads back that none is left. */
import pg from "pg";
import { type Database, type OrganizationKey, queryOnce } from "../pool.ts";

const ROWS_A_STATEMENT = 5_000;
const FOREIGN_KEY_VIOLATION = "23503";

/** Deletes everything, table by table, what others refer to after what refers to it. Idempotent. @returns rows deleted, by table. */
export async function deleteOrganizationRows(
  db: Database,
  organization: OrganizationKey,
): Promise<Record<string, number>> {
  const deleted = await deleteVectors(db, organization);
  const { rows } = await queryOnce<{ name: string }>(
    db.maintenance,
    "select tenant_table::text as name from tenant_tables()",
  );
  // The audit log's chain goes first: a log without it is that of an organization that is being deleted, and not one that was cut.
  for (let left = ["audit_chains", "spaces", ...rows.map(({ name }) => name)]; left.length > 0;) {
    const later: string[] = [];
    for (const table of left) {
      const count = await deleteFrom(db, table, organization);
      if (count === null) later.push(table);
      else if (count > 0) deleted[table.replace(/^.*\./, "")] = count;
    }
    if (later.length === left.length)
      throw new Error("the organization's rows refer to one another in a circle");
    left = later;
  }
  return deleted;
}

/**
 * As maintenance, which owns their tables: what has the owner's rights must not touch these. Its statements go table by table, since those on all of them
 * at once are not its own.
 */
async function deleteVectors(db: Database, { id, num }: OrganizationKey): Promise<Record<string, number>> {
  const deleted: Record<string, number> = {};
  const { rows } = await queryOnce<{ name: string }>(
    db.maintenance,
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'embeddings'::regclass order by 1",
  );
  for (const { name } of rows) {
    for (let count = ROWS_A_STATEMENT; count === ROWS_A_STATEMENT;) {
      const result = await queryOnce(
        db.maintenance,
        `delete from ${name} where ctid = any(array(select ctid from ${name} where organization_num = $1 limit ${ROWS_A_STATEMENT}))
         and exists (select from organizations o where o.id = $2 and o.num = $1 and o.deleted_at is not null)`,
        [num, id],
      );
      count = result.rowCount ?? 0;
      const table = name.replace(/^.*\./, "");
      if (count > 0) deleted[table] = (deleted[table] ?? 0) + count;
    }
  }
  return deleted;
}

/** @returns null where other rows still refer to some. */
async function deleteFrom(db: Database, table: string, { id }: OrganizationKey): Promise<number | null> {
  if (table === "spaces") return deleteSpaces(db, id);
  for (let total = 0; ;) {
    const { rows } = await queryOnce<{ deleted: number | null }>(
      db.maintenance,
      "select delete_rows_of_closed($1, $2, $3) as deleted",
      [id, table, ROWS_A_STATEMENT],
    );
    const deleted = rows[0]?.deleted ?? null;
    if (deleted === null) return null;
    total += deleted;
    if (deleted < ROWS_A_STATEMENT) return total;
  }
}

/** As maintenance too: a space that goes takes with it what vectors it still has. */
async function deleteSpaces(db: Database, organizationId: string): Promise<number | null> {
  try {
    return (
      (await queryOnce(db.maintenance, "delete from spaces where organization_id = $1", [organizationId]))
        .rowCount ?? 0
    );
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === FOREIGN_KEY_VIOLATION) return null;
    throw error;
  }
}

/** @returns how many rows are left in all tables, keys included. */
export async function countOrganizationRows(db: Database, { id, num }: OrganizationKey): Promise<number> {
  const { rows } = await queryOnce<{ count: number }>(
    db.maintenance,
    "select count_rows_of_closed($1) + (select count(*) from embeddings where organization_num = $2) as count",
    [id, num],
  );
  return rows[0]!.count;
}

/** Shreds: nothing that was encrypted for the organization can be read from here on. */
export async function deleteOrganizationKeys(db: Database, organization: OrganizationKey): Promise<number> {
  return (
    (
      await queryOnce(db.maintenance, "delete from organization_keys where organization_id = $1", [
        organization.id,
      ])
    ).rowCount ?? 0
  );
}

export async function deleteOrganizationRow(db: Database, organization: OrganizationKey): Promise<void> {
  await queryOnce(db.maintenance, "delete from organizations where id = $1 and deleted_at is not null", [
    organization.id,
  ]);
}

export async function listOrganizations(
  db: Database,
): Promise<Array<{ id: string; name: string; created_at: Date }>> {
  return (
    await queryOnce<{ id: string; name: string; created_at: Date }>(
      db.system,
      "select id, name, created_at from organizations where deleted_at is null order by num",
    )
  ).rows;
}
