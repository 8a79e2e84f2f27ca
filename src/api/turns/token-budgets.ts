/** The only place that refuses turns of an organization or a key whose tokens of the month are used up. */
import { createLookupCache } from "../../auth/lookup-cache.ts";
import { type Database, inTenant } from "../../db/pool.ts";
import { tokensOfMonth } from "../../db/usage.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Principal } from "../../domain/principal.ts";
import { rateLimited } from "../../telemetry/instruments.ts";

/** Undefined: no budget. Both count prompt and completion tokens of a calendar month in UTC. */
export interface TokenBudgets {
  readonly monthlyTokensPerOrganization?: number | undefined;
  readonly monthlyTokensPerKey?: number | undefined;
}

/** A budget may be passed by what is used within this time, and by the turns under way. */
const KEPT_MS = 5_000;
const ENTRIES_MAX = 10_000;

/** @returns what throws DomainError `rate_limited` with the time until the next month. */
export function createTokenBudgets(db: Database, budgets: TokenBudgets): (principal: Principal) => Promise<void> {
  const cache = createLookupCache<number>({ maxEntries: ENTRIES_MAX, now: Date.now, maxAgeMs: () => KEPT_MS });
  const check = async ({ organization }: Principal, apiKeyId: string | null, budget: number | undefined): Promise<void> => {
    if (budget === undefined) return;
    const month = new Date().toISOString().slice(0, 7);
    const used = await cache.get(`${organization.id} ${apiKeyId ?? ""} ${month}`, () =>
      inTenant(db, organization, (sql) => tokensOfMonth(sql, organization.id, `${month}-01`, apiKeyId)),
    );
    if (used < budget) return;
    rateLimited.inc({ budget: "tokens" });
    const whose = apiKeyId === null ? "organization" : "API key";
    throw new DomainError("rate_limited", `The monthly budget of ${budget} tokens of this ${whose} is used up.`, { retryAfterSeconds: secondsLeft(new Date()) });
  };
  return async (principal) => {
    await check(principal, null, budgets.monthlyTokensPerOrganization);
    if (principal.apiKeyId !== null) await check(principal, principal.apiKeyId, budgets.monthlyTokensPerKey);
  };
}

/** Of the month, in UTC. */
function secondsLeft(now: Date): number {
  return Math.ceil((Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) - now.getTime()) / 1_000);
}
