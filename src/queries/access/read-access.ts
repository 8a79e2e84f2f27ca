/** Says what a person or a key can do in each space, by the one policy that decides each request. */
import { type Action, RULES, decide } from "../../auth/policy.ts";
import type { ApiKeyRow } from "../../db/keys/api-keys.ts";
import type { Page, PageRequest } from "../../db/page.ts";
import type { Sql } from "../../db/pool.ts";
import { type AccessRow, listAccess } from "../../db/tenancy/access.ts";
import { CAPABILITIES, type OrganizationRole, type Principal } from "../../domain/tenancy/principal.ts";

export interface AccessSubject {
  readonly userId: string;
  readonly organizationRole: OrganizationRole;
  /** Null: the user, signed in. */
  readonly key: Pick<ApiKeyRow, "id" | "user_id" | "created_by" | "capabilities" | "spaces"> | null;
}

type Reason = "space_member" | "private_space" | "organization_admin" | "key_spaces" | "key_capabilities";

export interface SpaceAccess extends Pick<AccessRow, "space_id" | "is_private" | "role"> {
  /** Null: the private space of somebody else. */
  readonly space_name: string | null;
  readonly can: Action[];
  readonly because: Reason[];
}

/** What can be done in a space; everything else is asked of the organization. */
const IN_SPACES = (Object.keys(RULES) as Action[]).filter((action) =>
  ["role", "write", "owner"].includes(RULES[action].needs),
);

/** @param asker who wants to know it; authorized by the caller of this function */
export async function readAccess(
  sql: Sql,
  asker: Principal,
  subject: AccessSubject,
  { spaceId, ...page }: PageRequest & { readonly spaceId: string | null },
): Promise<Page<SpaceAccess>> {
  const { items, total } = await listAccess(
    sql,
    {
      organizationId: asker.organization.id,
      userId: subject.userId,
      apiKeyId: subject.key?.id ?? null,
      managesShared: subject.organizationRole === "admin",
      spaceId,
    },
    page,
  );
  return { items: items.map((row) => accessOf(asker, subject, row)), total };
}

function accessOf({ organization, user }: Principal, subject: AccessSubject, row: AccessRow): SpaceAccess {
  const { organizationRole, key } = subject;
  const isHidden = row.is_private && row.owner_id !== user.id;
  const name = isHidden ? null : row.space_name;
  const { space_id: id, space_num: num, is_private, role, is_in_key: isInKey } = row;
  const principal: Principal = {
    authMethod: key === null ? "jwt" : "api_key",
    user: { ...user, id: subject.userId },
    organization: { ...organization, role: organizationRole },
    apiKeyId: key?.id ?? null,
    capabilities: new Set(key?.capabilities ?? CAPABILITIES),
    isScoped: key !== null && key.spaces !== null,
    isMadeByOther: isOfOther(key),
    reach: role === null || !isInKey ? new Map() : new Map([[id, { id, num, role, is_private }]]),
  };
  const resource = { space_id: id, organization_id: organization.id, is_private };
  const can = IN_SPACES.filter((action) => decide(principal, action, resource) === "allow");
  return { space_id: id, space_name: name, is_private, role, can, because: reasonsOf(subject, row) };
}

/** Whether somebody else made the key for its owner. */
function isOfOther(key: AccessSubject["key"]): boolean {
  return key !== null && key.created_by !== null && key.created_by !== key.user_id;
}

function reasonsOf({ organizationRole, key }: AccessSubject, row: AccessRow): Reason[] {
  const reasons: Reason[] = [];
  if (row.role !== null) reasons.push(row.is_private ? "private_space" : "space_member");
  if (organizationRole === "admin" && !row.is_private) reasons.push("organization_admin");
  if (!row.is_in_key) reasons.push("key_spaces");
  if (key !== null && key.capabilities.length < CAPABILITIES.length) reasons.push("key_capabilities");
  return reasons;
}
