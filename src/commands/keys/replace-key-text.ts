/** Gives an API key a new text, in a transaction of the caller. Everything else of the key stays. */
import { createKeyText, hashKey, keyPrefix } from "../../auth/api-keys.ts";
import { type ApiKeyRow, findApiKey, lockApiKey } from "../../db/keys/api-keys.ts";
import { MAX_ROLLS_A_DAY, replaceKeyText as writeKeyText, secondsUntilRoll } from "../../db/keys/rolls.ts";
import type { OrganizationRef, Sql } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";
import { notFound } from "../../domain/not-found.ts";
import type { IssuedKey } from "./write-key.ts";

interface Replacement {
  readonly id: string;
  readonly userId: string;
  /** True if the user may roll keys of others too. */
  readonly isAdmin: boolean;
  /** Seconds for which the earlier text is accepted too. */
  readonly overlapSeconds: number;
  /** The key's new expiry; undefined leaves it as it is. */
  readonly expiresAt: Date | undefined;
}

/**
 * The caller's transaction also writes the audit row.
 * @throws DomainError `not_found` if there is no such key, or it is another user's and `isAdmin` is false;
 * `permission_denied` if it is another user's and may reach that user's private space; `bad_request` if it is
 * revoked, or would have expired; `rate_limited` if it was rolled {@link MAX_ROLLS_A_DAY} times within a day.
 */
export async function replaceKeyText(
  sql: Sql,
  pepper: Uint8Array,
  organization: OrganizationRef,
  replacement: Replacement,
): Promise<IssuedKey> {
  const { id, overlapSeconds } = replacement;
  const before = await lockApiKey(sql, organization.id, id);
  requireRollable(before, replacement);
  const expiresAt = replacement.expiresAt ?? before.expires_at;
  if (expiresAt !== null && expiresAt.getTime() <= Date.now())
    throw new DomainError("key_not_rollable", "The API key has expired: roll it with a new expires_at.");
  const wait = await secondsUntilRoll(sql, id);
  if (wait > 0)
    throw new DomainError(
      "rate_limited",
      `An API key can be rolled at most ${MAX_ROLLS_A_DAY} times a day.`,
      { retryAfterSeconds: wait },
    );
  const text = createKeyText();
  await writeKeyText(sql, organization, id, {
    hash: hashKey(pepper, text),
    prefix: keyPrefix(text),
    expiresAt,
    overlapSeconds,
  });
  return { ...(await findApiKey(sql, id))!, key: text };
}

function requireRollable(
  key: ApiKeyRow | undefined,
  { userId, isAdmin }: Replacement,
): asserts key is ApiKeyRow {
  const isOwn = key?.user_id === userId;
  if (key === undefined || !(isOwn || isAdmin)) throw notFound("api_key");
  if (!isOwn && !isIssuedByAnother(key))
    throw new DomainError(
      "permission_denied",
      "Permission denied: only its owner can roll a key that was not created by an administrator",
    );
  if (key.revoked_at !== null)
    throw new DomainError("key_not_rollable", "The API key is revoked, so it cannot be rolled.");
}

/** Such a key reaches only shared spaces, so its text may be given to an administrator. */
function isIssuedByAnother({ created_by: createdBy, user_id: userId }: ApiKeyRow): boolean {
  return createdBy !== null && createdBy !== userId;
}
