/** Issues an API key to the caller, or to a member of the organization that the caller administers. */
import { PEPPER } from "../../auth/api-keys.ts";
import { loadInstanceSecret } from "../../db/instance/secrets.ts";
import { inTenant } from "../../db/pool.ts";
import type { Capability } from "../../domain/tenancy/principal.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { requireMember } from "../members/member.ts";
import { recordChange } from "../record-change.ts";
import { authorizeKeyChange } from "./key.ts";
import { boundedExpiry, defaultExpiry, requireRoomForKey } from "./key-bounds.ts";
import { type IssuedKey, writeKey } from "./write-key.ts";

interface KeyIssue {
  /** The key's user; null for the caller. Only an administrator may name another member. */
  readonly member: { readonly organizationId: string; readonly userId: string } | null;
  readonly name: string;
  /** Ids of spaces; null: all that its owner reaches, without the private one if an administrator asks. */
  readonly spaces: readonly string[] | null;
  /** Null: all. */
  readonly capabilities: readonly Capability[] | null;
  /** ISO 8601; null: as the organization's default and maximum say, else it does not expire. */
  readonly expiresAt: string | null;
  /** Canonical networks that it may be used from; null: everywhere. */
  readonly allowedCidrs: readonly string[] | null;
}

/**
 * @returns the key with its text, which nobody can read again.
 * @throws DomainError `permission_denied`; `not_found` for another organization, for a user who is no member,
 * and for a space that the owner has no role in or that is private to an owner who is not the caller;
 * `bad_request` if the owner has as many keys as are allowed; ValidationProblems for an expiry that is past
 * or beyond the organization's maximum
 */
export async function issueKey(
  deps: Pick<CommandDeps, "db" | "masterKey" | "config">,
  caller: Caller,
  { member, ...wanted }: KeyIssue,
): Promise<IssuedKey> {
  const { organization, user } = caller.principal;
  authorizeKeyChange(caller.principal, member === null ? null : member.organizationId);
  const pepper = await loadInstanceSecret(deps.db, PEPPER, deps.masterKey);
  const userId = member === null ? user.id : member.userId;
  return inTenant(deps.db, organization, async (sql) => {
    if (member !== null) await requireMember(sql, member.organizationId, userId);
    const expiresAt =
      wanted.expiresAt === null
        ? await defaultExpiry(sql, organization.id)
        : await boundedExpiry(sql, organization.id, wanted.expiresAt);
    await requireRoomForKey(sql, userId, deps.config.limits.keysPerUser);
    const capabilities = wanted.capabilities === null ? null : [...new Set(wanted.capabilities)];
    const key = await writeKey(sql, pepper, organization, {
      ...wanted,
      userId,
      createdBy: user.id,
      expiresAt,
      capabilities,
    });
    await recordChange(sql, caller, "api_keys:create", {
      type: "api_key",
      id: key.id,
      events: [{ type: "key.created" }],
    });
    return key;
  });
}
