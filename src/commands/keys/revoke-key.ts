/** Revokes an API key with all its texts. This process refuses it at once, others within 5 seconds. */
import { findKeyOwner, revokeApiKey } from "../../db/keys/api-keys.ts";
import { inTenant } from "../../db/pool.ts";
import { notFound } from "../../domain/not-found.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { authorizeKeyChange } from "./key.ts";

interface KeyRevocation {
  readonly id: string;
  /** The organization whose administrator asks, for a key of any member; null: the caller, for an own key. */
  readonly asAdminOf: string | null;
}

/** Idempotent. @throws DomainError `not_found` also for another caller's key, `permission_denied` */
export async function revokeKey(
  deps: Pick<CommandDeps, "db" | "authenticator">,
  caller: Caller,
  { id, asAdminOf }: KeyRevocation,
): Promise<void> {
  const { organization, user } = caller.principal;
  authorizeKeyChange(caller.principal, asAdminOf);
  const ownerId = await inTenant(deps.db, organization, async (sql) => {
    const owner = asAdminOf === null ? user.id : await findKeyOwner(sql, asAdminOf, id);
    if (owner === undefined || !(await revokeApiKey(sql, id, owner))) throw notFound("api_key");
    await recordChange(sql, caller, "api_keys:revoke", {
      type: "api_key",
      id,
      events: [{ type: "key.revoked" }],
    });
    return owner;
  });
  deps.authenticator.forgetUser(ownerId);
}
