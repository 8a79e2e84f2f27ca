/** Gives a member of the organization a role in a shared space, whatever the role was before. */
import { inTenant } from "../../db/pool.ts";
import { findSpaceMember, setSpaceRole, type SpaceMemberRow } from "../../db/tenancy/space-members.ts";
import type { SpaceRole } from "../../domain/tenancy/principal.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { requireMember } from "../members/member.ts";
import { recordChange } from "../record-change.ts";
import { lockManagedSpace, requireShared } from "./space.ts";

interface PutSpaceMember {
  readonly member: SpaceMemberRow;
  /** True if the user had no role in the space before. */
  readonly isNew: boolean;
}

/**
 * Idempotent, but each call writes an audit row.
 * @throws DomainError `not_found`, `permission_denied`; `bad_request` if private, or if no owner would be
 * left
 */
export async function putSpaceMember(
  deps: Pick<CommandDeps, "db" | "authenticator">,
  caller: Caller,
  { spaceId, userId, role }: { readonly spaceId: string; readonly userId: string; readonly role: SpaceRole },
): Promise<PutSpaceMember> {
  const { organization } = caller.principal;
  const put = await inTenant(deps.db, organization, async (sql) => {
    const space = await lockManagedSpace(sql, caller.principal, spaceId);
    requireShared(space);
    const user = await requireMember(sql, organization.id, userId);
    const before = await findSpaceMember(sql, space.id, user.user_id);
    await setSpaceRole(sql, organization, { spaceId: space.id, userId: user.user_id, role });
    const isNew = before === undefined;
    const action = isNew ? "space_members:create" : "space_members:update";
    await recordChange(sql, caller, action, {
      type: "user",
      id: user.user_id,
      spaceId: space.id,
      events: [{ type: isNew ? "space.member_added" : "space.member_updated", data: { role } }],
    });
    return {
      member: { user_id: user.user_id, email: user.email, name: user.name, role },
      isNew,
    };
  });
  deps.authenticator.forgetUser(userId);
  return put;
}
