/** Deletes a shared space. Nobody reaches it afterwards; its storage is freed in the background. */
import { markSpaceDeleted } from "../../db/deletions/accept.ts";
import { inTenant } from "../../db/pool.ts";
import { listSpaceMemberIds } from "../../db/tenancy/space-members.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { type IfUnchanged, requireUnchanged } from "../etag.ts";
import { recordChange } from "../record-change.ts";
import { lockManagedSpace, spaceEtag } from "./space.ts";

/** @throws DomainError `not_found`, `permission_denied`, `precondition_failed`; `bad_request` if private */
export async function deleteSpace(
  deps: Pick<CommandDeps, "db" | "dispatcher" | "authenticator">,
  caller: Caller,
  { id, ifMatch }: IfUnchanged,
): Promise<void> {
  const { organization, user } = caller.principal;
  const memberIds = await inTenant(deps.db, organization, async (sql) => {
    const space = await lockManagedSpace(sql, caller.principal, id);
    requireUnchanged(ifMatch, spaceEtag(space));
    if (space.is_private) throw new DomainError("private_space", "A private space cannot be deleted.");
    await markSpaceDeleted(sql, { organization, userId: user.id, targetId: space.id });
    await recordChange(sql, caller, "spaces:delete", {
      type: "space",
      id: space.id,
      spaceId: space.id,
      events: [{ type: "space.deleted" }],
    });
    return listSpaceMemberIds(sql, space.id);
  });
  for (const memberId of memberIds) deps.authenticator.forgetUser(memberId);
  deps.dispatcher.wakeDeletions(organization.id);
}
