/** Refuses the turns of an organization, a user or a key whose tokens of the month are used up. */
import { createLookupCache } from "../../process/concurrency/lookup-cache.ts";
import { type Database, inTenant, type OrganizationRef } from "../../db/pool.ts";
import { type ReachedBudget, tellBudgetReached } from "../../db/turns/budgets.ts";
import { type TokenOwner, type TokenUse, tokensOfMonth } from "../../db/turns/usage.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { Log } from "../../process/log.ts";
import { rateLimited } from "../../telemetry/instruments.ts";

/** Prompt and completion tokens of a calendar month in UTC. Undefined: no budget. */
export interface TokenBudgets {
  readonly monthlyTokensPerOrganization?: number | undefined;
  /** All keys and sessions of a user share it. */
  readonly monthlyTokensPerUser?: number | undefined;
  readonly monthlyTokensPerKey?: number | undefined;
}

/** The most tokens of a month by whose budget it is; null: there is none. */
export const quotasOf = (budgets: TokenBudgets): Readonly<Record<TokenUse["budget"], number | null>> => ({
  organization: budgets.monthlyTokensPerOrganization ?? null,
  user: budgets.monthlyTokensPerUser ?? null,
  api_key: budgets.monthlyTokensPerKey ?? null,
});

/** Sums are cached this long; a budget may be exceeded by what is used meanwhile and by open turns. */
const KEPT_MS = 5_000;
const ENTRIES_MAX = 10_000;

interface TokenBudget {
  readonly name: string;
  /** Whose budget it is, as the refusal's text says it. */
  readonly whose: string;
  /** The same as events name it. */
  readonly of: Pick<ReachedBudget, "budget" | "ownerId">;
  readonly quota: number | undefined;
  readonly owner: TokenOwner;
}

/**
 * @param log told if the event of a budget cannot be written; the refusal stays the same.
 * @returns a check that throws DomainError `rate_limited`, with the seconds until the next month, if a budget
 * is used up. The first refusal of a budget in a month becomes an event.
 */
export function createTokenBudgets(
  db: Database,
  budgets: TokenBudgets,
  log: Pick<Log, "warn">,
): (principal: Principal) => Promise<void> {
  const cache = createLookupCache<number>({
    maxEntries: ENTRIES_MAX,
    now: Date.now,
    maxAgeMs: () => KEPT_MS,
  });
  const tell = createTeller(db, log);
  const check = async ({ organization }: Principal, budget: TokenBudget): Promise<void> => {
    const { name, whose, quota, owner } = budget;
    if (quota === undefined) return;
    const now = new Date();
    const month = now.toISOString().slice(0, 7);
    const used = await cache.get(
      `${organization.id} ${owner.userId ?? ""} ${owner.apiKeyId ?? ""} ${month}`,
      () => inTenant(db, organization, (sql) => tokensOfMonth(sql, `${month}-01`, owner)),
    );
    if (used < quota) return;
    rateLimited.inc({ budget: "tokens" });
    const { userId } = owner;
    await tell(organization, { ...budget.of, organizationId: organization.id, userId, month, quota });
    throw new DomainError(
      "token_budget_exceeded",
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

/** Writes the event of each budget and month once; most of the refusals that follow find it in memory. */
function createTeller(db: Database, log: Pick<Log, "warn">) {
  const told = new Set<string>();
  return async (organization: OrganizationRef, reached: ReachedBudget): Promise<void> => {
    const name = `${reached.organizationId} ${reached.budget} ${reached.ownerId} ${reached.month}`;
    if (told.has(name)) return;
    if (told.size >= ENTRIES_MAX) told.clear();
    told.add(name);
    try {
      await inTenant(db, organization, (sql) => tellBudgetReached(sql, reached));
    } catch (error) {
      told.delete(name);
      log.warn({ err: error, organization_id: organization.id }, "a budget event could not be written");
    }
  };
}

/** Widest first: the first that is used up is the one that the refusal names. */
function budgetsOf({ organization, user, apiKeyId }: Principal, budgets: TokenBudgets): TokenBudget[] {
  const everybody = { organizationId: organization.id, userId: null, apiKeyId: null };
  const widest: TokenBudget[] = [
    {
      name: "organization-tokens",
      whose: "organization",
      of: { budget: "organization", ownerId: organization.id },
      quota: budgets.monthlyTokensPerOrganization,
      owner: everybody,
    },
    {
      name: "user-tokens",
      whose: "user",
      of: { budget: "user", ownerId: user.id },
      quota: budgets.monthlyTokensPerUser,
      owner: { ...everybody, userId: user.id },
    },
  ];
  if (apiKeyId === null) return widest;
  const ofKey: TokenBudget = {
    name: "key-tokens",
    whose: "API key",
    of: { budget: "api_key", ownerId: apiKeyId },
    quota: budgets.monthlyTokensPerKey,
    // Turns of a key count for its owner as well.
    owner: { ...everybody, userId: user.id, apiKeyId },
  };
  return [...widest, ofKey];
}

function secondsLeft(now: Date): number {
  return Math.ceil((startOfMonth(now, 1) - now.getTime()) / 1_000);
}

function secondsOfMonth(now: Date): number {
  return (startOfMonth(now, 1) - startOfMonth(now, 0)) / 1_000;
}

/** The start of the month in UTC that is `later` months after that of `now`, in milliseconds since 1970. */
function startOfMonth(now: Date, later: number): number {
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + later, 1);
}
