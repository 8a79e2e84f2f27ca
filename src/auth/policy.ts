/** Decides whether a caller may do something to a resource: by role, and by a key's spaces and rights. */
import { DomainError } from "../domain/errors.ts";
import { notFound, type ResourceKind } from "../domain/not-found.ts";
import type { Capability, Principal, Reach, SpaceRole } from "../domain/tenancy/principal.ts";

/** Who may: any role in the space, one that writes, its owner; a member of the organization, an admin. */
type Need = "role" | "write" | "owner" | "member" | "admin";

interface Rule {
  readonly needs: Need;
  /** What a key must be able to do. Keys can do everything unless they were narrowed. */
  readonly capability: Capability;
  /** The detail of the 403, for a caller who reaches the resource and may not do this. */
  readonly denial: string;
  /** What is not found, for a caller who does not reach it; the same as if it did not exist. */
  readonly missing: ResourceKind;
}

const rule = (needs: Need, capability: Capability, permission: string, missing: ResourceKind): Rule => ({
  needs,
  capability,
  denial: `Permission denied: ${permission}`,
  missing,
});

export const RULES = {
  "spaces:read": rule("role", "read", "spaces:read", "space"),
  "spaces:create": rule("member", "write", "spaces:create", "organization"),
  "spaces:manage": rule("owner", "write", "spaces:manage", "space"),
  "documents:read": rule("role", "read", "documents:read", "document"),
  "documents:search": rule("role", "search", "documents:search", "space"),
  "documents:create": rule("write", "write", "documents:create", "space"),
  "documents:update": rule("write", "write", "documents:update", "document"),
  "documents:delete": rule("write", "write", "documents:delete", "document"),
  "documents:reprocess": rule("write", "write", "documents:reprocess", "document"),
  "files:read": rule("role", "read", "files:read", "file"),
  "files:create": rule("write", "write", "files:create", "space"),
  "files:rename": rule("write", "write", "files:rename", "file"),
  "files:delete": rule("write", "write", "files:delete", "file"),
  "user_files:read": rule("member", "read", "files:read", "file"),
  "user_files:create": rule("member", "write", "files:create", "file"),
  "user_files:delete": rule("member", "write", "files:delete", "file"),
  "folders:read": rule("role", "read", "read on folders", "folder"),
  "folders:create": rule("write", "write", "write on folders", "space"),
  "folders:write": rule("write", "write", "write on folders", "folder"),
  "agents:read": rule("role", "read", "agents:read", "agent"),
  "agents:chat": rule("role", "chat", "agents:chat", "agent"),
  "agents:create": rule("write", "write", "agents:write", "space"),
  "agents:write": rule("write", "write", "agents:write", "agent"),
  "webhooks:manage": rule("owner", "write", "webhooks:manage", "webhook"),
  "webhooks:administer": rule("admin", "write", "webhooks:manage", "webhook"),
  "events:read": rule("member", "read", "events:read", "event"),
  "organization:read": rule("member", "read", "organization:read", "organization"),
  "organization:manage": rule("admin", "write", "organization:manage", "organization"),
} as const satisfies Record<string, Rule>;

export type Action = keyof typeof RULES;
export type Decision = "allow" | "forbidden" | "not_found";

/** What the decision depends on. */
export interface Resource {
  /** The space that it is in, or that it is; absent for an organization. */
  readonly space_id?: string;
  /** Needed for an organization, for public agents, and for spaces that an admin manages. */
  readonly organization_id?: string;
  /** True for an agent that everyone in its organization may use. */
  readonly is_public?: boolean;
  /** True for a private space, which only its owner reaches. */
  readonly is_private?: boolean;
}

const WRITING: ReadonlySet<SpaceRole> = new Set(["owner", "editor"]);
const OPEN_IF_PUBLIC: ReadonlySet<Action> = new Set(["agents:read", "agents:chat"]);

/** The decision as a value, for lists and batches; {@link authorize} throws instead. */
export function decide(
  principal: Principal,
  action: Action,
  resource: Resource | null | undefined,
): Decision {
  if (resource === null || resource === undefined) return "not_found";
  const reached = isReached(principal, action, resource);
  if (!reached) return "not_found";
  const allowed = hasCapability(principal, action) && hasRight(principal, action, resource);
  return allowed ? "allow" : "forbidden";
}

/**
 * Asserts that the principal may do it, and that the resource exists.
 * @param missing what is not found, if it is not that of the action.
 * @throws DomainError `not_found` if the resource does not exist for the caller; `permission_denied` if it
 * does.
 * @example
 * const document = await findDocument(sql, principal, id);
 * authorize(principal, "documents:update", document);
 */
export function authorize<R extends Resource>(
  principal: Principal,
  action: Action,
  resource: R | null | undefined,
  missing?: ResourceKind,
): asserts resource is R {
  const decision = decide(principal, action, resource);
  if (decision === "not_found") throw notFound(missing ?? RULES[action].missing);
  if (decision === "allow") return;
  authorizeListing(principal, action);
  throw new DomainError("permission_denied", RULES[action].denial);
}

/**
 * For requests that list or search. They are narrowed by the caller's reach, so a space out of it is no
 * error.
 * @throws DomainError `key_out_of_scope` if the key was made without the capability.
 */
export function authorizeListing(principal: Principal, action: Action): void {
  authorizeKey(principal, RULES[action].capability);
}

/** @throws DomainError `key_out_of_scope` if the key was made without the capability. */
export function authorizeKey({ capabilities }: Principal, capability: Capability): void {
  if (!capabilities.has(capability))
    throw new DomainError(
      "key_out_of_scope",
      `Permission denied: the API key lacks the capability ${capability}`,
    );
}

/** For what no key may do: a user has to log in. @throws DomainError `permission_denied` for a key. */
export function authorizeLogin(principal: Principal): void {
  if (principal.authMethod !== "jwt")
    throw new DomainError("permission_denied", "Permission denied: this requires a signed-in user");
}

/** The spaces in which the caller may do `action`. Every query that lists or searches takes such a reach. */
export function reachFor(principal: Principal, action: Action): Reach {
  return new Map(
    [...principal.reach].filter(([id]) => decide(principal, action, { space_id: id }) === "allow"),
  );
}

function isReached(principal: Principal, action: Action, resource: Resource): boolean {
  const { needs } = RULES[action];
  if (needs === "member" || needs === "admin") return isOwnOrganization(principal, resource);
  if (resource.space_id === undefined) return false;
  return (
    principal.reach.has(resource.space_id) ||
    isPublicAgent(principal, resource) ||
    isManagedSpace(principal, action, resource)
  );
}

function hasRight(principal: Principal, action: Action, resource: Resource): boolean {
  const role = resource.space_id === undefined ? undefined : principal.reach.get(resource.space_id)?.role;
  switch (RULES[action].needs) {
    case "role":
      return role !== undefined || (OPEN_IF_PUBLIC.has(action) && isPublicAgent(principal, resource));
    case "write":
      return role !== undefined && WRITING.has(role);
    case "owner":
      return role === "owner" || isManagedSpace(principal, action, resource);
    case "member":
      return true;
    case "admin":
      return principal.organization.role === "admin";
  }
}

function hasCapability(principal: Principal, action: Action): boolean {
  return principal.capabilities.has(RULES[action].capability);
}

function isOwnOrganization(principal: Principal, resource: Resource): boolean {
  return resource.organization_id === principal.organization.id;
}

/** A key that is narrowed to spaces reaches no public agent outside of them. */
function isPublicAgent(principal: Principal, resource: Resource): boolean {
  return resource.is_public === true && !principal.isScoped && isOwnOrganization(principal, resource);
}

/** An admin manages every shared space of the organization, without reaching its content. */
function isManagedSpace(principal: Principal, action: Action, resource: Resource): boolean {
  const isShared =
    resource.is_private === false && !principal.isScoped && isOwnOrganization(principal, resource);
  return action === "spaces:manage" && isShared && principal.organization.role === "admin";
}
