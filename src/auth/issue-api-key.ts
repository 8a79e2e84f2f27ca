/** The only place where a key is made for a user on request; its text leaves here once. */
import { type ApiKeyRow, insertApiKey } from "../db/api-keys.ts";
import type { OrganizationKey, Sql } from "../db/pool.ts";
import { listSpacesOfUser } from "../db/spaces.ts";
import { DomainError } from "../domain/errors.ts";
import { newId } from "../domain/ids.ts";
import { CAPABILITIES, type Capability } from "../domain/principal.ts";
import { createKeyText, hashKey, keyPrefix } from "./api-keys.ts";

interface KeyRequest {
  readonly userId: string;
  readonly name: string;
  /** Ids of the spaces it is narrowed to; null reaches all of its owner's. */
  readonly spaces: readonly string[] | null;
  readonly capabilities: readonly Capability[] | null;
  readonly expiresAt: Date | null;
}

/**
 * Runs in the caller's transaction, which also writes the audit row.
 * @throws DomainError `not_found` for a space that the user has no role in.
 */
export async function issueApiKey(sql: Sql, pepper: Uint8Array, organization: OrganizationKey, request: KeyRequest): Promise<ApiKeyRow & { key: string }> {
  const { userId, name, spaces, expiresAt } = request;
  const own = new Set((await listSpacesOfUser(sql, userId)).map((space) => space.id));
  if (spaces?.some((id) => !own.has(id))) throw new DomainError("not_found", "Space not found");
  const key = createKeyText();
  const row = await insertApiKey(sql, organization, {
    id: newId(),
    userId,
    name,
    spaces,
    expiresAt,
    prefix: keyPrefix(key),
    hash: hashKey(pepper, key),
    capabilities: request.capabilities ?? CAPABILITIES,
  });
  return { ...row, key };
}
