/** The only place where a key is made for a user on request, or is given a new text; the text leaves here once. */
import { type ApiKeyRow, findApiKey, insertApiKey, lockApiKey } from "../db/keys/api-keys.ts";
import { MAX_ROLLS_A_DAY, replaceKeyText, secondsUntilRoll } from "../db/keys/rolls.ts";
import type { OrganizationKey, Sql } from "../db/pool.ts";
import { listSpacesOfUser } from "../db/tenancy/spaces.ts";
import { DomainError } from "../domain/errors.ts";
import { newId } from "../domain/ids.ts";
import { CAPABILITIES, type Capability } from "../domain/tenancy/principal.ts";
import { createKeyText, hashKey, keyPrefix } from "./api-keys.ts";

interface KeyRequest {
  readonly userId: string;
  /** The user who asks for it; null is the operator. */
  readonly createdBy: string | null;
  readonly name: string;
  /** Ids of the spaces it is narrowed to; null reaches all of its owner's, without the private one if somebody else asks. */
  readonly spaces: readonly string[] | null;
  readonly capabilities: readonly Capability[] | null;
  readonly expiresAt: Date | null;
  /** Canonical networks that it may be used from; null is everywhere. */
  readonly allowedCidrs: readonly string[] | null;
}

export type IssuedKey = ApiKeyRow & { readonly key: string };

/**
 * Runs in the caller's transaction, which also writes the audit row.
 * @throws DomainError `not_found` for a space that the user has no role in, and for the user's private one if another user asks.
 */
export async function issueApiKey(
  sql: Sql,
  pepper: Uint8Array,
  organization: OrganizationKey,
  request: KeyRequest,
): Promise<IssuedKey> {
  const { userId, createdBy, name, spaces, expiresAt, allowedCidrs } = request;
  const reached = await listSpacesOfUser(sql, userId);
  const isForAnother = createdBy !== null && createdBy !== userId;
  const choice = new Set(
    reached.filter((space) => !(space.is_private && isForAnother)).map((space) => space.id),
  );
  if (spaces?.some((id) => !choice.has(id))) throw new DomainError("not_found", "Space not found");
  const key = createKeyText();
  const row = await insertApiKey(sql, organization, {
    id: newId(),
    userId,
    createdBy,
    name,
    spaces,
    expiresAt,
    allowedCidrs,
    prefix: keyPrefix(key),
    hash: hashKey(pepper, key),
    capabilities: request.capabilities ?? CAPABILITIES,
  });
  return { ...row, key };
}

interface RollRequest {
  readonly id: string;
  /** The user who asks. */
  readonly userId: string;
  /** True lets the user roll those of others too. */
  readonly isAdmin: boolean;
  /** For how long the text of before is accepted besides the new one. */
  readonly overlapSeconds: number;
  /** The expiry from now on, which is given the one of before. */
  readonly expiresAt: (before: Date | null) => Date | null;
}

/**
 * Gives a key a new text; all else of it stays. Runs in the caller's transaction, which also writes the audit row.
 * @throws DomainError `not_found` if there is no such key or it is another user's and `isAdmin` is false; `permission_denied` if it is
 * another user's and may reach that user's private space; `bad_request` if it is revoked, or expired from now on too;
 * `rate_limited` if it was rolled {@link MAX_ROLLS_A_DAY} times within a day.
 */
export async function rollApiKey(
  sql: Sql,
  pepper: Uint8Array,
  organization: OrganizationKey,
  request: RollRequest,
): Promise<IssuedKey> {
  const { id, userId, isAdmin, overlapSeconds } = request;
  const before = await lockApiKey(sql, organization.id, id);
  const isOwn = before?.user_id === userId;
  if (before === undefined || !(isOwn || isAdmin)) throw new DomainError("not_found", "API key not found");
  if (!isOwn && !isIssuedByAnother(before))
    throw new DomainError(
      "permission_denied",
      "Permission denied: only its owner rolls a key that an administrator did not make",
    );
  if (before.revoked_at !== null)
    throw new DomainError("bad_request", "The API key is revoked, so it cannot be rolled.");
  const expiresAt = request.expiresAt(before.expires_at);
  if (expiresAt !== null && expiresAt.getTime() <= Date.now())
    throw new DomainError("bad_request", "The API key has expired: it can be rolled with a new expires_at.");
  const wait = await secondsUntilRoll(sql, id);
  if (wait > 0)
    throw new DomainError(
      "rate_limited",
      `An API key can be rolled at most ${MAX_ROLLS_A_DAY} times a day.`,
      { retryAfterSeconds: wait },
    );
  const key = createKeyText();
  await replaceKeyText(sql, organization, id, {
    hash: hashKey(pepper, key),
    prefix: keyPrefix(key),
    expiresAt,
    overlapSeconds,
  });
  return { ...(await findApiKey(sql, id))!, key };
}

/** Such a key reaches shared spaces alone, so that its text may be given to an administrator. */
function isIssuedByAnother({ created_by: createdBy, user_id: userId }: ApiKeyRow): boolean {
  return createdBy !== null && createdBy !== userId;
}
