/** Changes what an organization says about the lifetime of its keys. */
import type { Sql } from "../sql.ts";
import type { KeyLifetimes, OrganizationRow } from "../tenancy/organizations.ts";

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
     returning id, name, created_at, max_key_lifetime_seconds, default_key_lifetime_seconds`,
    [id, max !== undefined, max ?? null, usual !== undefined, usual ?? null],
  );
  return rows[0]!;
}
