/** Routes of an organization and its settings. */
import { authorize } from "../../../auth/policy.ts";
import { updateOrganization } from "../../../commands/organizations/update-organization.ts";
import { findOrganization } from "../../../db/tenancy/organizations.ts";
import { notFound } from "../../../domain/not-found.ts";
import { Organization, OrganizationPatch } from "../../../schema/organization.ts";
import { defineRoute } from "../../route.ts";

const getOrganization = defineRoute("GET /organizations/:organization_id", {
  operation: "organizations.get",
  access: "jwt",
  audit: { action: "organization:read", resource: "organization" },
  summary: "The caller's organization, with how long its API keys may live.",
  description:
    "For every member of it. Its members, keys and usage have operations of their own, for admins.",
  response: Organization,
  async handle({ principal, read, params }) {
    authorize(principal, "organization:read", params);
    const organization = await read((sql) => findOrganization(sql, params.organization_id));
    if (organization === undefined) throw notFound("organization");
    return organization;
  },
});

const patchOrganization = defineRoute("PATCH /organizations/:organization_id", {
  operation: "organizations.update",
  access: "jwt",
  audit: { action: "organization:update", resource: "organization" },
  summary: "Change how long an organization's API keys may live.",
  description:
    "For admins. Holds for keys that users make from then on, and for new expiries of those that are " +
    "rolled. Keys that exist keep their expiry; keys of the operator are not bound. Fields that are " +
    "left out stay as they are.",
  body: OrganizationPatch,
  response: Organization,
  handle: async ({ deps, caller, params, body }) =>
    updateOrganization(deps, caller, {
      id: params.organization_id,
      maxKeyLifetimeSeconds: body.max_key_lifetime_seconds,
      defaultKeyLifetimeSeconds: body.default_key_lifetime_seconds,
    }),
});

export const organizationRoutes = [getOrganization, patchOrganization];
