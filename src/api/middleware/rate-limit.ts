/**
 * Refuses requests above the minute's budgets: those of each key, user and organization, those of their chat
 * turns, and that of each address whose credentials are refused.
 */
import type { Context } from "koa";
import { type Budget, policyItem } from "../../domain/budget.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { rateLimited } from "../../telemetry/instruments.ts";
import type { SharedCounter, BudgetState } from "../limits/shared-counter.ts";

/** How many are allowed in a minute. */
export interface RateLimits {
  /** For each key, and for each operator. */
  readonly requestsPerMinute: number;
  readonly chatTurnsPerMinute: number;
  /** For each user, all keys and sessions together. */
  readonly requestsPerUserAndMinute: number;
  readonly chatTurnsPerUserAndMinute: number;
  /** For each organization, all members together. Default: no budget. */
  readonly requestsPerOrganizationAndMinute?: number | undefined;
  readonly chatTurnsPerOrganizationAndMinute?: number | undefined;
  /** Requests without valid credentials, for each address. */
  readonly refusalsPerMinute: number;
}

type Kind = "requests" | "chat" | "refusals";

export interface RateLimit {
  /**
   * Counts the request, as `weight` requests, by default 1. The answer's headers name the budget with the
   * least left, what remains of it, and when the minute ends.
   * @throws DomainError `rate_limited` if a budget is used up.
   */
  countRequest(ctx: Context, principal: Principal, kind: "requests" | "chat", weight?: number): Promise<void>;
  /** Counts a request that was counted before as a chat turn too. @throws DomainError `rate_limited` */
  countTurn(ctx: Context, principal: Principal): Promise<void>;
  /** The same for an operator, who has no principal. */
  countOperator(ctx: Context, subject: string): Promise<void>;
  /** Counts a refusal as `weight` requests (default 1) of its address. @throws DomainError `rate_limited`. */
  countRefusal(ctx: Context, weight?: number): Promise<void>;
}

const WINDOW_SECONDS = 60;

interface CountedBudget extends Budget {
  readonly kind: Kind;
  /** The key under which its requests are counted in all processes. */
  readonly caller: string;
}

type Owner = "key" | "user" | "organization" | "operator" | "address";

const budgetOf = (owner: Owner, kind: Kind, quota: number, caller: string): CountedBudget => ({
  name: `${owner}-${kind}`,
  kind,
  quota,
  windowSeconds: WINDOW_SECONDS,
  caller,
});

export function createRateLimit(limits: RateLimits, counter: Pick<SharedCounter, "count">): RateLimit {
  const consume = async (ctx: Context, budgets: readonly CountedBudget[], weight = 1): Promise<void> => {
    const states = await counter.count(
      budgets.map(({ caller, quota }) => ({ caller, limit: quota, weight })),
    );
    const { budget, state } = leastLeft(budgets, states);
    ctx.set({
      "RateLimit-Policy": policyItem(budget),
      "RateLimit-Limit": String(budget.quota),
      "RateLimit-Remaining": String(state.remaining),
      "RateLimit-Reset": String(state.resetSeconds),
    });
    if (state.isWithin) return;
    rateLimited.inc({ budget: budget.kind });
    throw new DomainError("rate_limited", "Rate limit exceeded", {
      retryAfterSeconds: state.resetSeconds,
    });
  };
  return {
    countRequest: (ctx, principal, kind, weight) =>
      consume(
        ctx,
        [...requestBudgets(limits, principal), ...(kind === "chat" ? chatBudgets(limits, principal) : [])],
        weight,
      ),
    countTurn: (ctx, principal) => consume(ctx, chatBudgets(limits, principal)),
    countOperator: (ctx, subject) =>
      consume(ctx, [budgetOf("operator", "requests", limits.requestsPerMinute, `operator ${subject}`)]),
    countRefusal: (ctx, weight) =>
      consume(ctx, [budgetOf("address", "refusals", limits.refusalsPerMinute, `address ${ctx.ip}`)], weight),
  };
}

/** Narrowest first; {@link leastLeft} relies on it. */
function requestBudgets(limits: RateLimits, { apiKeyId, user, organization }: Principal): CountedBudget[] {
  const {
    requestsPerMinute: ofKey,
    requestsPerUserAndMinute: ofUser,
    requestsPerOrganizationAndMinute: ofOrganization,
  } = limits;
  return [
    ...(apiKeyId === null ? [] : [budgetOf("key", "requests", ofKey, apiKeyId)]),
    budgetOf("user", "requests", ofUser, user.id),
    ...(ofOrganization === undefined
      ? []
      : [budgetOf("organization", "requests", ofOrganization, `organization ${organization.id}`)]),
  ];
}

function chatBudgets(limits: RateLimits, { apiKeyId, user, organization }: Principal): CountedBudget[] {
  const {
    chatTurnsPerMinute: ofKey,
    chatTurnsPerUserAndMinute: ofUser,
    chatTurnsPerOrganizationAndMinute: ofOrganization,
  } = limits;
  return [
    ...(apiKeyId === null ? [] : [budgetOf("key", "chat", ofKey, `chat ${apiKeyId}`)]),
    budgetOf("user", "chat", ofUser, `chat ${user.id}`),
    ...(ofOrganization === undefined
      ? []
      : [budgetOf("organization", "chat", ofOrganization, `chat organization ${organization.id}`)]),
  ];
}

/**
 * A budget that is used up, else the one with the least left. Of several, the last and widest one: the caller
 * would meet it with another key as well.
 */
function leastLeft(
  budgets: readonly CountedBudget[],
  states: readonly BudgetState[],
): { budget: CountedBudget; state: BudgetState } {
  const pairs = budgets.map((budget, at) => ({ budget, state: states[at]! }));
  const left = ({ isWithin, remaining }: BudgetState): number => (isWithin ? remaining : -1);
  return pairs.reduce((nearest, pair) => (left(pair.state) <= left(nearest.state) ? pair : nearest));
}
