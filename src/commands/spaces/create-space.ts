/** Makes a shared space. */
import { authorize, authorizeLogin } from "../../auth/policy.ts";
import { inTenant } from "../../db/pool.ts";
import { insertSpace, type SpaceRow } from "../../db/tenancy/spaces.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { requireSharedName } from "./space.ts";

/**
 * The caller is the owner of the new space.
 * @throws DomainError `permission_denied`; `bad_request` if the name is reserved or another shared space has
 * it.
 */
export async function createSpace(
  deps: Pick<CommandDeps, "db" | "authenticator">,
  caller: Caller,
  { name }: { readonly name: string },
): Promise<SpaceRow> {
  const { organization, user } = caller.principal;
  authorizeLogin(caller.principal);
  authorize(caller.principal, "spaces:create", { organization_id: organization.id });
  requireSharedName(name);
  const space = await inTenant(deps.db, organization, async (sql) => {
    const made = await insertSpace(sql, organization, user.id, name);
    await recordChange(sql, caller, "spaces:create", {
      type: "space",
      id: made.id,
      spaceId: made.id,
      events: [{ type: "space.created" }],
    });
    return made;
  });
  deps.authenticator.forgetUser(user.id);
  return space;
}
