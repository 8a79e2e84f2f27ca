/** Refuses turns of an organization, a user or a key whose tokens of the month are used up. */
import { createLookupCache } from "../../auth/lookup-cache.ts";
import { type Database, inTenant } from "../../db/pool.ts";
import { type TokenOwner, tokensOfMonth } from "../../db/turns/usage.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { rateLimited } from "../../telemetry/instruments.ts";

/** Undefined: no budget. Each counts prompt and completion tokens of a calendar month in UTC. */
export interface TokenBudgets {
  readonly monthlyTokensPerOrganization?: number | undefined;
  /** Of all keys and sessions of a user together. */
  readonly monthlyTokensPerUser?: number | undefined;
  readonly monthlyTokensPerKey?: number | undefined;
}

/** A budget may be passed by what is used within this time, and by the turns under way. */
const KEPT_MS = 5_000;
const ENTRIES_MAX = 10_000;

interface TokenBudget {
  readonly name: string;
  /** For the refusal's text. */
  readonly whose: string;
  readonly quota: number | undefined;
  readonly owner: TokenOwner;
}

/** @returns what throws DomainError `rate_limited` with the time until the next month. */
export function createTokenBudgets(
  db: Database,
  budgets: TokenBudgets,
): (principal: Principal) => Promise<void> {
  const cache = createLookupCache<number>({
    maxEntries: ENTRIES_MAX,
    now: Date.now,
    maxAgeMs: () => KEPT_MS,
  });
  const check = async (
    { organization }: Principal,
    { name, whose, quota, owner }: TokenBudget,
  ): Promise<void> => {
    if (quota === undefined) return;
    const now = new Date();
    const month = now.toISOString().slice(0, 7);
    const used = await cache.get(
      `${organization.id} ${owner.userId ?? ""} ${owner.apiKeyId ?? ""} ${month}`,
      () => inTenant(db, organization, (sql) => tokensOfMonth(sql, `${month}-01`, owner)),
    );
    if (used < quota) return;
    rateLimited.inc({ budget: "tokens" });
    throw new DomainError(
      "rate_limited",
      `The monthly budget of ${quota} tokens of this ${whose} is used up.`,
      {
        retryAfterSeconds: secondsLeft(now),
        budget: { name, quota, windowSeconds: secondsOfMonth(now), unit: "tokens" },
      },
    );
  };
  return async (principal) => {
    for (const budget of budgetsOf(principal, budgets)) await check(principal, budget);
  };
}

/** From the widest to the narrowest: the first that is used up is named. */
function budgetsOf({ organization, user, apiKeyId }: Principal, budgets: TokenBudgets): TokenBudget[] {
  const everybody = { organizationId: organization.id, userId: null, apiKeyId: null };
  // A key's turns are its owner's.
  const ofKey = {
    name: "key-tokens",
    whose: "API key",
    quota: budgets.monthlyTokensPerKey,
    owner: { ...everybody, userId: user.id, apiKeyId },
  };
  return [
    {
      name: "organization-tokens",
      whose: "organization",
      quota: budgets.monthlyTokensPerOrganization,
      owner: everybody,
    },
    {
      name: "user-tokens",
      whose: "user",
      quota: budgets.monthlyTokensPerUser,
      owner: { ...everybody, userId: user.id },
    },
    ...(apiKeyId === null ? [] : [ofKey]),
  ];
}

function secondsLeft(now: Date): number {
  return Math.ceil((startOfMonth(now, 1) - now.getTime()) / 1_000);
}

function secondsOfMonth(now: Date): number {
  return (startOfMonth(now, 1) - startOfMonth(now, 0)) / 1_000;
}

/** In milliseconds since the epoch: of the month in UTC that is `later` months after that of `now`. */
function startOfMonth(now: Date, later: number): number {
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + later, 1);
}
