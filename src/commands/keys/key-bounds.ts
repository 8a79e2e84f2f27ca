/** Bounds of the keys that users ask for: how long one lives, and how many there may be. */
import { findOrganization } from "../../db/tenancy/organizations.ts";
import { countLiveKeys, findKeyOwner, hasExpired, lockKeysOfUser } from "../../db/keys/api-keys.ts";
import type { Sql } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";
import { ValidationProblems, valueError } from "../../schema/requests/problem.ts";

const EXPIRES_AT = ["body", "expires_at"];

/** The expiry of a key if none is asked for: the organization's default, else its maximum; null is none. */
export async function defaultExpiry(sql: Sql, organizationId: string): Promise<Date | null> {
  const organization = await findOrganization(sql, organizationId);
  const maxSeconds = organization?.max_key_lifetime_seconds ?? Infinity;
  const seconds = Math.min(organization?.default_key_lifetime_seconds ?? Infinity, maxSeconds);
  return seconds === Infinity ? null : new Date(Date.now() + seconds * 1_000);
}

/**
 * The expiry that is asked for, if the organization allows it.
 * @param wanted ISO 8601
 * @throws ValidationProblems for one that is past, or beyond the organization's maximum.
 */
export async function boundedExpiry(sql: Sql, organizationId: string, wanted: string): Promise<Date> {
  const organization = await findOrganization(sql, organizationId);
  const maxSeconds = organization?.max_key_lifetime_seconds ?? Infinity;
  const expiresAt = new Date(wanted);
  if (expiresAt.getTime() <= Date.now())
    throw new ValidationProblems([valueError(EXPIRES_AT, "must be in the future", wanted)]);
  if (expiresAt.getTime() > Date.now() + maxSeconds * 1_000) {
    throw new ValidationProblems([
      valueError(
        EXPIRES_AT,
        `must be at most ${maxSeconds} seconds from now, the organization's maximum`,
        wanted,
      ),
    ]);
  }
  return expiresAt;
}

/**
 * Locks the user's keys until the transaction ends, so that two requests cannot both take the last place.
 * @throws DomainError `bad_request` if the user has `max` keys that are neither revoked nor expired.
 */
export async function requireRoomForKey(sql: Sql, userId: string, max: number): Promise<void> {
  await lockKeysOfUser(sql, userId);
  if ((await countLiveKeys(sql, userId)) >= max) {
    throw new DomainError(
      "limit_reached",
      `A user may have at most ${max} API keys that are neither revoked nor expired`,
    );
  }
}

interface RevivedKey {
  readonly id: string;
  readonly organizationId: string;
  /** The owner it must have; null: any in the organization. */
  readonly userId: string | null;
}

/**
 * As {@link requireRoomForKey}, for a key that is given a new expiry: one that has expired counts as a new
 * one. Call it before the key itself is locked, because that is the order of all locks on keys. A key that is
 * not there passes.
 */
export async function requireRoomForNewExpiry(
  sql: Sql,
  { id, organizationId, userId }: RevivedKey,
  max: number,
): Promise<void> {
  const owner = await findKeyOwner(sql, organizationId, id);
  if (owner === undefined || (userId !== null && owner !== userId)) return;
  await lockKeysOfUser(sql, owner);
  if (await hasExpired(sql, id)) await requireRoomForKey(sql, owner, max);
}
