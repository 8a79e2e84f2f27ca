/** All SQL on what an organization says about the lifetime of its keys. */
import type { Sql } from "../pool.ts";

export interface KeyLifetimes {
  /** In seconds; null is no bound. */
  readonly max_key_lifetime_seconds: number | null;
  /** Of a key for which nothing is asked, in seconds; null is none. */
  readonly default_key_lifetime_seconds: number | null;
}

export interface OrganizationRow extends KeyLifetimes {
  readonly id: string;
  readonly name: string;
  readonly created_at: Date;
}

const COLUMNS = "id, name, created_at, max_key_lifetime_seconds, default_key_lifetime_seconds";

export async function findOrganization(sql: Sql, id: string): Promise<OrganizationRow | undefined> {
  const { rows } = await sql.query<OrganizationRow>(
    `select ${COLUMNS} from organizations where id = $1 and deleted_at is null`,
    [id],
  );
  return rows[0];
}

/** Sets what is given; what is undefined stays. Keys that exist keep their expiry. */
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
