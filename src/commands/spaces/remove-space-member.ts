/** Takes a user's role in a shared space away. */
import { inTenant } from "../../db/pool.ts";
import { findSpaceMember, removeSpaceMember as deleteRole } from "../../db/tenancy/space-members.ts";
import { notFound } from "../../domain/not-found.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { lockManagedSpace, requireShared } from "./space.ts";

/** @throws DomainError `not_found`, `permission_denied`; `bad_request` if private, or for the last owner */
export async function removeSpaceMember(
  deps: Pick<CommandDeps, "db" | "authenticator">,
  caller: Caller,
  { spaceId, userId }: { readonly spaceId: string; readonly userId: string },
): Promise<void> {
  await inTenant(deps.db, caller.principal.organization, async (sql) => {
    const space = await lockManagedSpace(sql, caller.principal, spaceId);
    requireShared(space);
    if ((await findSpaceMember(sql, space.id, userId)) === undefined) throw notFound("user");
    await deleteRole(sql, space.id, userId);
    await recordChange(sql, caller, "space_members:delete", {
      type: "user",
      id: userId,
      spaceId: space.id,
      events: [{ type: "space.member_removed" }],
    });
  });
  deps.authenticator.forgetUser(userId);
}
