/** What the commands of spaces share: who may change one, what it may be called, and the lock on its row. */
import { authorize, authorizeLogin } from "../../auth/policy.ts";
import type { Sql } from "../../db/pool.ts";
import { findSpaceOfOrganization, type SpaceRow } from "../../db/tenancy/spaces.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { PRIVATE_SPACE } from "../../domain/tenancy/provision-file.ts";
import { etagOf } from "../etag.ts";

export const spaceEtag = (space: SpaceRow): string => etagOf(space.id, space.updated_at);

/**
 * Owners manage their space, and admins every shared space of the organization.
 * @throws DomainError `not_found` if the caller does not reach the space, `permission_denied` if the caller
 * may not manage it.
 */
export function authorizeManaging(
  principal: Principal,
  space: SpaceRow | undefined,
): asserts space is SpaceRow {
  authorize(principal, "spaces:manage", space && { ...space, space_id: space.id });
}

/** Locks the space's row for the transaction. @throws DomainError `not_found`, `permission_denied` */
export async function lockManagedSpace(sql: Sql, principal: Principal, id: string): Promise<SpaceRow> {
  authorizeLogin(principal);
  const space = await findSpaceOfOrganization(sql, principal.organization.id, id, { lock: true });
  authorizeManaging(principal, space);
  return space;
}

/** In files and commands the reserved name means everybody's own space. @throws DomainError `bad_request` */
export function requireSharedName(name: string): void {
  if (name.trim().toLowerCase() === PRIVATE_SPACE)
    throw new DomainError("name_reserved", "This name is reserved for private spaces.");
}

/** @throws DomainError `bad_request` for a private space, whose one member is its owner. */
export function requireShared(space: SpaceRow): void {
  if (space.is_private)
    throw new DomainError("private_space", "A private space cannot have members other than its owner.");
}
