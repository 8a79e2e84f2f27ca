/** Removes a member from an organization, with the member's keys and roles. */
import { authorize, authorizeLogin } from "../../auth/policy.ts";
import { inTenant } from "../../db/pool.ts";
import { lockMembers, removeMember as writeRemoval, requireAnotherAdmin } from "../../db/tenancy/members.ts";
import type { Caller } from "../caller.ts";
import type { CommandDeps } from "../deps.ts";
import { recordChange } from "../record-change.ts";
import { requireMember } from "./member.ts";

interface MemberRemoval {
  readonly organizationId: string;
  readonly userId: string;
}

/**
 * Keys are revoked, and shared spaces without another owner pass to the first admin. The private space stays.
 * @throws DomainError `not_found`, `permission_denied`; `bad_request` if no admin would be left.
 * @see test/commands/members/members.database.test.ts
 */
export async function removeMember(
  deps: Pick<CommandDeps, "db" | "authenticator">,
  caller: Caller,
  { organizationId, userId }: MemberRemoval,
): Promise<void> {
  const { organization } = caller.principal;
  authorizeLogin(caller.principal);
  authorize(caller.principal, "organization:manage", { organization_id: organizationId });
  await inTenant(deps.db, organization, async (sql) => {
    await lockMembers(sql, organization.id);
    await requireMember(sql, organization.id, userId);
    await requireAnotherAdmin(sql, organization.id, userId);
    const keyIds = await writeRemoval(sql, organization, userId);
    await recordChange(sql, caller, "members:delete", {
      type: "user",
      id: userId,
      events: [
        ...keyIds.map((id) => ({ type: "key.revoked", resource_type: "api_key", resource_id: id }) as const),
        { type: "member.removed" },
      ],
    });
  });
  deps.authenticator.forgetUser(userId);
}
