/** What the commands of API keys share: who may change one. */
import { authorize, authorizeLogin } from "../../auth/policy.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";

/**
 * Users change keys of their own, and administrators those of every member; a key changes none.
 * @param asAdminOf the organization whose administrator asks; null: a user, for an own key.
 * @throws DomainError `permission_denied`, `not_found` for another organization
 */
export function authorizeKeyChange(principal: Principal, asAdminOf: string | null): void {
  authorizeLogin(principal);
  if (asAdminOf !== null) authorize(principal, "organization:manage", { organization_id: asAdminOf });
}
