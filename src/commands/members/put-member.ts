/** Adds a member to an organization, or changes one. */
import { authorize, authorizeLogin } from "../../auth/policy.ts";
import { inTenant } from "../../db/pool.ts";
import {
  findMember,
  lockMembers,
  type MemberRow,
  putMember as writeMember,
  requireAnotherAdmin,
} from "../../db/tenancy/members.ts";
import type { OrganizationRole } from "../../domain/tenancy/principal.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";

interface WantedMember {
  readonly organizationId: string;
  /** The caller chooses the id of a new member. */
  readonly userId: string;
  /** Kept in lower case. */
  readonly email: string;
  readonly name: string;
  readonly role: OrganizationRole;
}

interface PutMember {
  readonly member: MemberRow;
  /** True for a new user, and for one who was removed before. */
  readonly isNew: boolean;
}

/**
 * Idempotent, but each call writes an audit row. A user who was removed comes back without the keys and roles
 * of before.
 * @throws DomainError `not_found`, `permission_denied`; `bad_request` if no admin would be left, if the
 * e-mail address is in use, or if it would let somebody else log in to the user's private space.
 */
export async function putMember(
  deps: Pick<CommandDeps, "db" | "authenticator">,
  caller: Caller,
  { organizationId, userId, email, name, role }: WantedMember,
): Promise<PutMember> {
  const { organization } = caller.principal;
  authorizeLogin(caller.principal);
  authorize(caller.principal, "organization:manage", { organization_id: organizationId });
  const put = await inTenant(deps.db, organization, async (sql) => {
    await lockMembers(sql, organization.id);
    if (role !== "admin") await requireAnotherAdmin(sql, organization.id, userId);
    const isNew = await writeMember(sql, organization, {
      id: userId,
      email: email.toLowerCase(),
      name,
      role,
    });
    const action = isNew ? "members:create" : "members:update";
    await recordChange(sql, caller, action, {
      type: "user",
      id: userId,
      events: [{ type: isNew ? "member.added" : "member.updated", data: { role } }],
    });
    const member = await findMember(sql, organization.id, userId);
    return { member: member!, isNew };
  });
  deps.authenticator.forgetUser(userId);
  return put;
}
