/** Renames a space. */
import { inTenant } from "../../db/pool.ts";
import { renameSpace, type SpaceRow } from "../../db/tenancy/spaces.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { type IfUnchanged, requireUnchanged } from "../etag.ts";
import { recordChange } from "../record-change.ts";
import { lockManagedSpace, requireSharedName, spaceEtag } from "./space.ts";

interface SpaceUpdate extends IfUnchanged {
  /** Without a name, or with the one that it has, nothing is written. */
  readonly name: string | undefined;
}

/**
 * @returns the space as it is after the change.
 * @throws DomainError `not_found`, `permission_denied`, `precondition_failed`; `bad_request` for a name that
 * is reserved or taken.
 */
export async function updateSpace(
  deps: Pick<CommandDeps, "db">,
  caller: Caller,
  { id, ifMatch, name }: SpaceUpdate,
): Promise<SpaceRow> {
  const { principal } = caller;
  return inTenant(deps.db, principal.organization, async (sql) => {
    const before = await lockManagedSpace(sql, principal, id);
    requireUnchanged(ifMatch, spaceEtag(before));
    if (name === undefined || name === before.name) return before;
    if (!before.is_private) requireSharedName(name);
    const renamed = await renameSpace(sql, before.id, name);
    await recordChange(sql, caller, "spaces:update", {
      type: "space",
      id: before.id,
      spaceId: before.id,
      events: [{ type: "space.updated" }],
    });
    return renamed;
  });
}
