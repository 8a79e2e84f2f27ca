/** The route that adds up what an organization used, for its admins. */
import { authorize } from "../../../auth/policy.ts";
import { readTenant } from "../../../db/pool.ts";
import { readUsage } from "../../../db/turns/usage.ts";
import { OrganizationParams, pageOf } from "../../../schema/fields.ts";
import { UsagePage, UsageQuery } from "../../../schema/organization.ts";
import { defineRoute } from "../../route.ts";

const getUsage = defineRoute({
  method: "GET",
  path: "/organizations/:organization_id/usage",
  operation: "organizations.usage",
  access: "jwt",
  audit: { action: "usage:read", resource: "organization" },
  status: 200,
  summary: "Tokens, turns, documents and bytes by day, user, key and agent.",
  description:
    "For admins. Days are in UTC. `to` is exclusive. `bytes` are those of the day's documents that " +
    "still exist.",
  tags: ["Organizations"],
  params: OrganizationParams,
  query: UsageQuery,
  response: UsagePage,
  async handle({ deps, principal, params, query }) {
    authorize(principal, "organization:manage", params);
    const period = { from: query.from ?? null, to: query.to ?? null };
    const { items, total } = await readTenant(deps.db, principal.organization, (sql) =>
      readUsage(sql, params.organization_id, period, query),
    );
    return pageOf(items, total, query);
  },
});

export const usageRoutes = [getUsage];
