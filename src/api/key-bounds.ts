/** What an organization and the service allow of a key that a user asks for: its lifetime, and how many there may be. */
import { findOrganization } from "../db/key-lifetimes.ts";
import { lockAndCountLiveKeys } from "../db/api-keys.ts";
import type { Sql } from "../db/pool.ts";
import { DomainError } from "../domain/errors.ts";
import { ValidationProblems, valueError } from "../schema/problem.ts";

const EXPIRES_AT = ["body", "expires_at"];

/**
 * The expiry of a new key: what is asked for, else the organization's default, else its maximum; null is none.
 * @throws ValidationProblems for one that is past, or beyond the organization's maximum.
 */
export async function boundedExpiry(sql: Sql, organizationId: string, wanted: string | null | undefined): Promise<Date | null> {
  const organization = await findOrganization(sql, organizationId);
  const max = organization?.max_key_lifetime_seconds ?? Infinity;
  const seconds = Math.min(organization?.default_key_lifetime_seconds ?? Infinity, max);
  if (wanted === null || wanted === undefined) return seconds === Infinity ? null : new Date(Date.now() + seconds * 1_000);
  const expiresAt = new Date(wanted);
  if (expiresAt.getTime() <= Date.now()) throw new ValidationProblems([valueError(EXPIRES_AT, "must be in the future", wanted)]);
  if (expiresAt.getTime() > Date.now() + max * 1_000) {
    throw new ValidationProblems([valueError(EXPIRES_AT, `must be at most ${max} seconds from now: the organization's keys live no longer`, wanted)]);
  }
  return expiresAt;
}

/** Holds until the transaction ends. @throws DomainError `bad_request` if the user has `max` keys that are neither revoked nor expired. */
export async function requireRoomForKey(sql: Sql, userId: string, max: number): Promise<void> {
  if ((await lockAndCountLiveKeys(sql, userId)) >= max) {
    throw new DomainError("bad_request", `A user may have at most ${max} API keys that are neither revoked nor expired`);
  }
}
