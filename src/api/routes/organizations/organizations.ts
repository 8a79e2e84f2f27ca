/** An organization and what its admins set for it. */
import { authorize } from "../../../auth/policy.ts";
import { setKeyLifetimes } from "../../../db/keys/lifetimes.ts";
import { findOrganization } from "../../../db/tenancy/organizations.ts";
import { inTenant } from "../../../db/pool.ts";
import { DomainError } from "../../../domain/errors.ts";
import { OrganizationParams } from "../../../schema/common.ts";
import { Organization, OrganizationPatch } from "../../../schema/organization.ts";
import { auditChange } from "../../audit-change.ts";
import { defineRoute } from "../../route.ts";

const getOrganization = defineRoute({
  method: "GET",
  path: "/organizations/:organization_id",
  access: "jwt",
  audit: { action: "organization:read", resource: "organization" },
  status: 200,
  summary: "The caller's organization, with how long its API keys may live.",
  tags: ["Organizations"],
  params: OrganizationParams,
  response: Organization,
  async handle({ deps, principal, params }) {
    authorize(principal, "organization:read", params);
    const organization = await inTenant(deps.db, principal.organization, (sql) =>
      findOrganization(sql, params.organization_id),
    );
    if (organization === undefined) throw new DomainError("not_found", "Organization not found");
    return organization;
  },
});

const patchOrganization = defineRoute({
  method: "PATCH",
  path: "/organizations/:organization_id",
  access: "jwt",
  audit: { action: "organization:update", resource: "organization" },
  status: 200,
  summary: "Change how long an organization's API keys may live.",
  description:
    "Holds for keys that users make from then on, and for new expiries of those that are rolled. Keys that exist keep their expiry; keys of the operator are not bound.",
  tags: ["Organizations"],
  params: OrganizationParams,
  body: OrganizationPatch,
  response: Organization,
  async handle({ deps, principal, params, body, request }) {
    authorize(principal, "organization:manage", params);
    return inTenant(deps.db, principal.organization, async (sql) => {
      const organization = await setKeyLifetimes(sql, params.organization_id, body);
      await auditChange(sql, { principal, request }, "organization:update", {
        type: "organization",
        id: params.organization_id,
      });
      return organization;
    });
  },
});

export const organizationRoutes = [getOrganization, patchOrganization];
