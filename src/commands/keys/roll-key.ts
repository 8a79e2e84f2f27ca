/** Rolls an API key: gives it a new text, while the earlier one is accepted for some time. */
import { PEPPER } from "../../auth/api-keys.ts";
import { loadInstanceSecret } from "../../db/instance/secrets.ts";
import { inTenant } from "../../db/pool.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { authorizeKeyChange } from "./key.ts";
import { boundedExpiry, requireRoomForNewExpiry } from "./key-bounds.ts";
import { replaceKeyText } from "./replace-key-text.ts";
import type { IssuedKey } from "./write-key.ts";

interface KeyRoll {
  readonly id: string;
  /** The organization whose administrator asks, for a key of any member; null: the caller, for an own key. */
  readonly asAdminOf: string | null;
  /** Seconds for which the earlier text is accepted too; 0 ends it at once. */
  readonly overlapSeconds: number;
  /** ISO 8601; null leaves the key's expiry as it is. */
  readonly expiresAt: string | null;
}

/**
 * @returns the key with its new text, which nobody can read again.
 * @throws as {@link replaceKeyText} does; DomainError `bad_request` also if a new expiry would give its owner
 * one live key too many; ValidationProblems for an expiry that is past or beyond the organization's maximum
 */
export async function rollKey(
  deps: Pick<CommandDeps, "db" | "masterKey" | "config" | "authenticator">,
  caller: Caller,
  { id, asAdminOf, overlapSeconds, expiresAt }: KeyRoll,
): Promise<IssuedKey> {
  const { organization, user } = caller.principal;
  authorizeKeyChange(caller.principal, asAdminOf);
  const isAdmin = asAdminOf !== null;
  const pepper = await loadInstanceSecret(deps.db, PEPPER, deps.masterKey);
  const rolled = await inTenant(deps.db, organization, async (sql) => {
    const newExpiry = expiresAt === null ? undefined : await boundedExpiry(sql, organization.id, expiresAt);
    if (newExpiry !== undefined)
      await requireRoomForNewExpiry(
        sql,
        { id, organizationId: organization.id, userId: isAdmin ? null : user.id },
        deps.config.limits.keysPerUser,
      );
    const key = await replaceKeyText(sql, pepper, organization, {
      id,
      userId: user.id,
      isAdmin,
      overlapSeconds,
      expiresAt: newExpiry,
    });
    await recordChange(sql, caller, "api_keys:roll", {
      type: "api_key",
      id,
      events: [{ type: "key.rolled" }],
    });
    return key;
  });
  deps.authenticator.forgetUser(rolled.user_id);
  return rolled;
}
