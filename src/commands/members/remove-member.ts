/** Removes a member from an organization, with the member's keys and roles. */
import { authorize, authorizeLogin } from "../../auth/policy.ts";
import { inTenant, type Sql } from "../../db/pool.ts";
import { lockMembers, removeMember as writeRemoval, requireAnotherAdmin } from "../../db/tenancy/members.ts";
import { pauseWebhooksOfUser } from "../../db/webhooks/endings.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { requireMember } from "./member.ts";

/**
 * Keys are revoked, webhooks paused, and shared spaces without another owner pass to the first admin. The
 * private space stays.
 * @throws DomainError `not_found`, `permission_denied`; `bad_request` if no admin would be left.
 */
export async function removeMember(
  deps: Pick<CommandDeps, "db" | "authenticator">,
  caller: Caller,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
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
    await pauseWebhooks(sql, caller, userId);
  });
  deps.authenticator.forgetUser(userId);
}

/** Each has an audit row of its own, since it may be in another space. A user has at most 100. */
async function pauseWebhooks(sql: Sql, caller: Caller, userId: string): Promise<void> {
  for (const { id, space_id: spaceId } of await pauseWebhooksOfUser(sql, userId))
    await recordChange(sql, caller, "webhooks:pause", {
      type: "webhook",
      id,
      ...(spaceId === null ? {} : { spaceId }),
      events: [{ type: "webhook.paused", data: { reason: "reach_lost" } }],
    });
}
