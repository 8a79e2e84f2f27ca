/** Reads organizations, and changes what they say about the lifetime of their keys. */
import type pg from "pg";
import { type Database, type OrganizationRef, queryOnce, type Sql } from "../pool.ts";

interface KeyLifetimes {
  /** In seconds; null means no bound. */
  readonly max_key_lifetime_seconds: number | null;
  /** In seconds, for a key whose maker asks for no expiry; null means that it does not expire. */
  readonly default_key_lifetime_seconds: number | null;
}

export interface OrganizationRow extends KeyLifetimes {
  readonly id: string;
  readonly name: string;
  readonly created_at: Date;
}

const COLUMNS = "id, name, created_at, max_key_lifetime_seconds, default_key_lifetime_seconds";

/** @returns undefined also while the organization is being deleted. */
export async function findOrganization(sql: Sql, id: string): Promise<OrganizationRow | undefined> {
  const { rows } = await sql.query<OrganizationRow>(
    `select ${COLUMNS}
     from organizations
     where id = $1
       and deleted_at is null`,
    [id],
  );
  return rows[0];
}

/** Sets the lifetimes that are given; one that is undefined stays. Existing keys keep their expiry. */
export async function setKeyLifetimes(
  sql: Sql,
  id: string,
  lifetimes: { [Key in keyof KeyLifetimes]?: number | null | undefined },
): Promise<OrganizationRow> {
  const { max_key_lifetime_seconds: max, default_key_lifetime_seconds: usual } = lifetimes;
  const { rows } = await sql.query<OrganizationRow>(
    `update organizations
     set max_key_lifetime_seconds = case when $2 then $3::int else max_key_lifetime_seconds end,
         default_key_lifetime_seconds = case when $4 then $5::int else default_key_lifetime_seconds end
     where id = $1
     returning ${COLUMNS}`,
    [id, max !== undefined, max ?? null, usual !== undefined, usual ?? null],
  );
  return rows[0]!;
}

/** Lists the organizations that are not being deleted, for the command line, oldest first. */
export async function listOrganizations(
  db: Database,
): Promise<Array<Pick<OrganizationRow, "id" | "name" | "created_at">>> {
  const { rows } = await queryOnce<Pick<OrganizationRow, "id" | "name" | "created_at">>(
    db.system,
    `select id, name, created_at
     from organizations
     where deleted_at is null
     order by num`,
  );
  return rows;
}

/** Lists at most `limit` organizations that are not being deleted, in the order of numbers, after `after`. */
export async function listOrganizationsAfter(
  system: pg.Pool,
  after: number,
  limit: number,
): Promise<OrganizationRef[]> {
  const { rows } = await queryOnce<OrganizationRef>(
    system,
    `select id, num
     from organizations
     where num > $1
       and deleted_at is null
     order by num
     limit $2`,
    [after, limit],
  );
  return rows;
}
