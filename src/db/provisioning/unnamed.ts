/** Lists what the database has and a provisioning file does not name. Nothing of it is ever deleted. */
import type { OrganizationRef, Sql } from "../pool.ts";
import type { ProvisionChange } from "./rows.ts";

export interface Unnamed {
  /** Such as `user ada@acme.example of Acme`; at most 200 of all kinds. */
  readonly listed: readonly string[];
  /** Whether there are more than are listed. */
  readonly hasMore: boolean;
}

const MOST_NAMED = 200;

const UNNAMED = `
  select what
  from (
    select 1 as place,
           organization.num as at,
           format('organization %s', organization.name) as what
    from organizations organization
    where organization.deleted_at is null
      and not organization.id = any($1::uuid[])

    union all
    select 2,
           organization.num,
           format('user %s of %s', member.email, organization.name)
    from users member
    join organizations organization on organization.id = member.organization_id
    where organization.id = any($1::uuid[])
      and member.removed_at is null
      and not member.id::text = any($2)

    union all
    select 3,
           organization.num,
           format('space %s of %s', space.name, organization.name)
    from spaces space
    join organizations organization on organization.id = space.organization_id
    where organization.id = any($1::uuid[])
      and space.deleted_at is null
      and not space.is_private
      and not space.id::text = any($2)

    union all
    select 4,
           organization.num,
           format('%s %s of space %s of %s', role.role, member.email, space.name, organization.name)
    from space_members role
    join users member on member.id = role.user_id
    join spaces space on space.id = role.space_id
    join organizations organization on organization.id = space.organization_id
    where space.id::text = any($2)
      and not space.is_private
      and member.id::text = any($2)
      and not format('%s %s', space.id, member.id) = any($2)

    union all
    select 5,
           organization.num,
           format('agent %s of space %s of %s', agent.name, space.name, organization.name)
    from agents agent
    join spaces space on space.id = agent.space_id
    join organizations organization on organization.id = agent.organization_id
    where space.id::text = any($2)
      and agent.deleted_at is null
      and not agent.id::text = any($2)

    union all
    select 6,
           organization.num,
           format('key %s of %s of %s', key.name, member.email, organization.name)
    from api_keys key
    join users member on member.id = key.user_id
    join organizations organization on organization.id = key.organization_id
    where member.id::text = any($2)
      and key.created_by is null
      and key.revoked_at is null
      and (key.expires_at is null or key.expires_at > now())
      and not key.id::text = any($2)
  ) unnamed
  order by place, at, what
  limit $3`;

/**
 * Finds organizations, users, shared spaces, roles in them, agents, and keys that the operator made and that
 * still work. If the file does not name an organization, that one line stands for all that belongs to it.
 * @param named the organizations of the file.
 * @param changes everything that the file names.
 */
export async function findUnnamedParts(
  sql: Sql,
  named: readonly OrganizationRef[],
  changes: readonly ProvisionChange[],
): Promise<Unnamed> {
  const { rows } = await sql.query<{ what: string }>(UNNAMED, [
    named.map(({ id }) => id),
    changes.map(({ id }) => id),
    MOST_NAMED + 1,
  ]);
  return { listed: rows.slice(0, MOST_NAMED).map(({ what }) => what), hasMore: rows.length > MOST_NAMED };
}
