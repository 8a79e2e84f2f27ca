/** The route that adds up what an organization used, for its admins. */
import { authorize } from "../../../auth/policy.ts";
import { listTokenUse, readUsage } from "../../../db/turns/usage.ts";
import { pageOf } from "../../../schema/fields.ts";
import { TokenBudgetPage, TokenBudgetQuery, UsagePage, UsageQuery } from "../../../schema/organization.ts";
import { defineRoute } from "../../route.ts";
import { quotasOf } from "../../turns/token-budgets.ts";

const getUsage = defineRoute("GET /organizations/:organization_id/usage", {
  operation: "organizations.usage",
  access: "jwt",
  audit: { action: "usage:read", resource: "organization" },
  summary: "Tokens, turns, documents and bytes by day, user, key and agent.",
  description:
    "For admins. Days are in UTC. `to` is exclusive. `bytes` are those of the day's documents that " +
    "still exist.",
  query: UsageQuery,
  response: UsagePage,
  async handle({ principal, read, params, query }) {
    authorize(principal, "organization:manage", params);
    const period = { from: query.from ?? null, to: query.to ?? null };
    return pageOf(await read((sql) => readUsage(sql, params.organization_id, period, query)), query);
  },
});

const getTokenBudgets = defineRoute("GET /organizations/:organization_id/token-budgets", {
  operation: "organizations.token_budgets",
  access: "jwt",
  audit: { action: "usage:read", resource: "organization" },
  summary: "The tokens of this month, beside their budgets.",
  description:
    "For admins. The organization comes first, then users and API keys that used any, most first. A turn " +
    "that would begin above a budget is refused: 429 `token_budget_exceeded`.",
  query: TokenBudgetQuery,
  response: TokenBudgetPage,
  async handle({ deps, principal, read, params, query }) {
    authorize(principal, "organization:manage", params);
    const month = new Date().toISOString().slice(0, "2026-01".length);
    const { items, total } = await read((sql) =>
      listTokenUse(sql, params.organization_id, `${month}-01`, query),
    );
    const quotas = quotasOf(deps.config.chat.budgets);
    return pageOf(
      { items: items.map((use) => ({ ...use, month, quota: quotas[use.budget] })), total },
      query,
    );
  },
});

export const usageRoutes = [getUsage, getTokenBudgets];
