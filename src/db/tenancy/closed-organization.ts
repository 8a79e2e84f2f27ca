/** Deletes a closed organization's rows from every table that the catalogue names, and counts the rest. */
import pg from "pg";
import { type Database, type OrganizationRef, queryOnce } from "../pool.ts";

const ROWS_A_STATEMENT = 5_000;
const FOREIGN_KEY_VIOLATION = "23503";

/** Deletes all rows; tables that others refer to come last. Idempotent. @returns how many rows, by table. */
export async function deleteOrganizationRows(
  db: Database,
  organization: OrganizationRef,
): Promise<Record<string, number>> {
  const deleted = await deleteVectors(db, organization);
  const { rows } = await queryOnce<{ name: string }>(
    db.maintenance,
    "select tenant_table::text as name from tenant_tables()",
  );
  // The audit log's chain goes first: a log without a chain shows that its organization is being deleted,
  // while a chain without its log would look like one that somebody had cut.
  let left = ["audit_chains", "spaces", ...rows.map(({ name }) => name)];
  while (left.length > 0) {
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
 * Deletes vectors as the login `maintenance`, which owns their partitions. No function with the schema
 * owner's rights may touch them, because a trigger planted there would run with those rights. It goes
 * partition by partition, since their common parent belongs to the schema's owner.
 */
async function deleteVectors(db: Database, { id, num }: OrganizationRef): Promise<Record<string, number>> {
  const deleted: Record<string, number> = {};
  const { rows } = await queryOnce<{ name: string }>(
    db.maintenance,
    `select inhrelid::regclass::text as name
     from pg_inherits
     where inhparent = 'embeddings'::regclass
     order by 1`,
  );
  for (const { name } of rows) {
    const table = name.replace(/^.*\./, "");
    let count: number;
    do {
      const result = await queryOnce(
        db.maintenance,
        `delete from ${name}
         where ctid = any(array(
             select ctid
             from ${name}
             where organization_num = $1
             limit ${ROWS_A_STATEMENT}
           ))
           and exists (
             select
             from organizations organization
             where organization.id = $2
               and organization.num = $1
               and organization.deleted_at is not null
           )`,
        [num, id],
      );
      count = result.rowCount ?? 0;
      if (count > 0) deleted[table] = (deleted[table] ?? 0) + count;
    } while (count === ROWS_A_STATEMENT);
  }
  return deleted;
}

/** @returns how many rows were deleted; null if rows of other tables still refer to some. */
async function deleteFrom(db: Database, table: string, { id }: OrganizationRef): Promise<number | null> {
  if (table === "spaces") return deleteSpaces(db, id);
  let total = 0;
  for (;;) {
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

/** Runs as `maintenance` too, because the foreign keys of vectors delete them with their space. */
async function deleteSpaces(db: Database, organizationId: string): Promise<number | null> {
  try {
    const { rowCount } = await queryOnce(db.maintenance, "delete from spaces where organization_id = $1", [
      organizationId,
    ]);
    return rowCount ?? 0;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === FOREIGN_KEY_VIOLATION) return null;
    throw error;
  }
}

/** @returns how many rows are left in all tables, including the wrapped keys. */
export async function countOrganizationRows(db: Database, { id, num }: OrganizationRef): Promise<number> {
  const { rows } = await queryOnce<{ count: number }>(
    db.maintenance,
    `select count_rows_of_closed($1) + (
       select count(*)
       from embeddings
       where organization_num = $2
     ) as count`,
    [id, num],
  );
  return rows[0]!.count;
}

/** Deletes the wrapped keys: nothing encrypted for the organization can be read again. Idempotent. */
export async function deleteOrganizationKeys(db: Database, organization: OrganizationRef): Promise<number> {
  const { rowCount } = await queryOnce(
    db.maintenance,
    "delete from organization_keys where organization_id = $1",
    [organization.id],
  );
  return rowCount ?? 0;
}

export async function deleteOrganizationRow(db: Database, organization: OrganizationRef): Promise<void> {
  await queryOnce(
    db.maintenance,
    `delete from organizations
     where id = $1
       and deleted_at is not null`,
    [organization.id],
  );
}
