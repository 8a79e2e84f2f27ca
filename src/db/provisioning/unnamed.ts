/** What a provisioning file does not name any more, or never did: the only SQL that looks for it. Nothing of it is ever deleted. */
import type { OrganizationKey, Sql } from "../pool.ts";
import type { ProvisionChange } from "./rows.ts";

export interface Unnamed {
  /** As `user ada@acme.example of Acme`, at most {@link MOST_NAMED} in all. */
  readonly listed: readonly string[];
  /** There are more than are listed. */
  readonly hasMore: boolean;
}

const MOST_NAMED = 200;

/**
 * Organizations, users, shared spaces, roles in them, agents, and keys that the operator made and that still work. What is of an
 * organization that the file does not name goes with it and is not listed by itself.
 * @param named the organizations of the file. @param changes all that the file names.
 */
export async function findUnnamedParts(
  sql: Sql,
  named: readonly OrganizationKey[],
  changes: readonly ProvisionChange[],
): Promise<Unnamed> {
  const { rows } = await sql.query<{ what: string }>(
    `select what from (
       select 1 as place, o.num as at, format('organization %s', o.name) as what from organizations o
         where o.deleted_at is null and not o.id = any($1::uuid[])
       union all select 2, o.num, format('user %s of %s', u.email, o.name) from users u join organizations o on o.id = u.organization_id
         where o.id = any($1::uuid[]) and u.removed_at is null and not u.id::text = any($2)
       union all select 3, o.num, format('space %s of %s', s.name, o.name) from spaces s join organizations o on o.id = s.organization_id
         where o.id = any($1::uuid[]) and s.deleted_at is null and not s.is_private and not s.id::text = any($2)
       union all select 4, o.num, format('%s %s of space %s of %s', m.role, u.email, s.name, o.name)
         from space_members m join users u on u.id = m.user_id join spaces s on s.id = m.space_id join organizations o on o.id = s.organization_id
         where s.id::text = any($2) and not s.is_private and u.id::text = any($2) and not format('%s %s', s.id, u.id) = any($2)
       union all select 5, o.num, format('agent %s of space %s of %s', a.name, s.name, o.name)
         from agents a join spaces s on s.id = a.space_id join organizations o on o.id = a.organization_id
         where s.id::text = any($2) and a.deleted_at is null and not a.id::text = any($2)
       union all select 6, o.num, format('key %s of %s of %s', k.name, u.email, o.name)
         from api_keys k join users u on u.id = k.user_id join organizations o on o.id = k.organization_id
         where u.id::text = any($2) and k.created_by is null and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
           and not k.id::text = any($2)) unnamed
     order by place, at, what limit ${MOST_NAMED + 1}`,
    [named.map(({ id }) => id), changes.map(({ id }) => id)],
  );
  return { listed: rows.slice(0, MOST_NAMED).map(({ what }) => what), hasMore: rows.length > MOST_NAMED };
}
