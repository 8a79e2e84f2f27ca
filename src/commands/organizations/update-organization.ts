/** Changes how long the API keys of an organization may live. */
import { authorize, authorizeLogin } from "../../auth/policy.ts";
import { inTenant } from "../../db/pool.ts";
import { type OrganizationRow, setKeyLifetimes } from "../../db/tenancy/organizations.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";

interface OrganizationUpdate {
  readonly id: string;
  /** In seconds; null is no bound, undefined leaves it as it is. */
  readonly maxKeyLifetimeSeconds: number | null | undefined;
  /** What a key gets if nothing is asked for: in seconds; null is no expiry, undefined leaves it as it is. */
  readonly defaultKeyLifetimeSeconds: number | null | undefined;
}

/** Applies only to keys made or rolled later. @throws DomainError `not_found`, `permission_denied` */
export async function updateOrganization(
  deps: Pick<CommandDeps, "db">,
  caller: Caller,
  { id, maxKeyLifetimeSeconds, defaultKeyLifetimeSeconds }: OrganizationUpdate,
): Promise<OrganizationRow> {
  authorizeLogin(caller.principal);
  authorize(caller.principal, "organization:manage", { organization_id: id });
  return inTenant(deps.db, caller.principal.organization, async (sql) => {
    const organization = await setKeyLifetimes(sql, id, {
      max_key_lifetime_seconds: maxKeyLifetimeSeconds,
      default_key_lifetime_seconds: defaultKeyLifetimeSeconds,
    });
    await recordChange(sql, caller, "organization:update", {
      type: "organization",
      id,
      events: [{ type: "organization.updated" }],
    });
    return organization;
  });
}
