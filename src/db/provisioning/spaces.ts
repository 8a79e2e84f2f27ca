/** Adds and updates the shared spaces that a provisioning file names, with the roles of users in them. */
import type { ProvisionSpace } from "../../domain/tenancy/provision-file.ts";
import { provisionAgents } from "./agents.ts";
import { type Located, locate, noteChange, type Run, save, updateRow } from "./rows.ts";
import type { Scope } from "./scope.ts";

interface NamedMember {
  readonly userId: string;
  readonly email: string;
  readonly role: string;
}

/** @param path where the space is in the file, such as `organizations[0].spaces[1]`. */
export async function provisionSpace(
  run: Run,
  scope: Scope,
  path: string,
  named: ProvisionSpace,
): Promise<void> {
  const organizationId = scope.organization.id;
  const { id, name } = named;
  const located = await locate(run, "spaces", { path, id, name, parentId: organizationId });
  if (located === undefined) return;
  const members = knownMembers(scope, named);
  const firstOwner = members.find((member) => member.role === "owner");
  const noteOwnerless = (): void => {
    // A member who is unknown has a mistake of its own, and may be meant as the owner.
    if (members.length === Object.keys(named.members ?? {}).length)
      run.mistakes.push(`${path}.members: needs at least one owner`);
  };
  if (located.isNew && firstOwner === undefined) return noteOwnerless();
  await save(run, "spaces", located, {
    fields: { name },
    defaults: { organization_id: organizationId, owner_id: firstOwner?.userId },
  });
  scope.spaceIds.set(name.toLowerCase(), located.id);
  for (const member of members) await provisionMember(run, scope, located, member);
  const ownerId = await settleOwner(run, located.id);
  if (ownerId === undefined) return noteOwnerless();
  await provisionAgents(run, located, { agents: named.agents ?? [], organizationId, ownerId });
}

/** Leaves out addresses that belong to no user of the file. */
function knownMembers(scope: Scope, { members }: ProvisionSpace): NamedMember[] {
  return Object.entries(members ?? {}).flatMap(([email, role]) => {
    const userId = scope.userIds.get(email);
    return userId === undefined ? [] : [{ userId, email, role }];
  });
}

async function provisionMember(
  run: Run,
  scope: Scope,
  space: Located,
  { userId, email, role }: NamedMember,
): Promise<void> {
  const { rows } = await run.sql.query<{ is_new: boolean }>(
    `insert into space_members (space_id, user_id, organization_id, role)
     values ($1, $2, $3, $4)
     on conflict (space_id, user_id) do update
     set role = excluded.role
     where space_members.role <> excluded.role
     returning (xmax = 0) as is_new`,
    [space.id, userId, scope.organization.id, role],
  );
  const change = {
    path: `${space.path}.members.${email}`,
    id: `${space.id} ${userId}`,
    what: `${role} ${email} of space ${space.name}`,
    outcome: rows.length === 1 ? "changed" : "unchanged",
  } as const;
  noteChange(run, change, {
    type: rows[0]?.is_new === true ? "space.member_added" : "space.member_updated",
    resource_type: "user",
    resource_id: userId,
    space_id: space.id,
    data: { role },
  });
}

/** Makes one of the space's owners its owner of record, if none is. @returns it; undefined: no owner. */
async function settleOwner(run: Run, spaceId: string): Promise<string | undefined> {
  const { rows } = await run.sql.query<{ id: string }>(
    `select member.user_id as id
     from space_members member
     join spaces space on space.id = member.space_id
     where member.space_id = $1
       and member.role = 'owner'
     order by member.user_id <> space.owner_id, member.user_id
     limit 1`,
    [spaceId],
  );
  const owner = rows[0]?.id;
  if (owner !== undefined) await updateRow(run.sql, "spaces", spaceId, { owner_id: owner });
  return owner;
}
