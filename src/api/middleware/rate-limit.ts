/** Refuses requests above the minute's budgets: of each key, user and organization, their chat turns, and of each address whose credentials were refused. */
import type { Context } from "koa";
import { type Budget, policyItem } from "../../domain/budget.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { rateLimited } from "../../telemetry/instruments.ts";
import type { SharedCounter, Standing } from "../limits/shared-counter.ts";

/** Each counts a minute. */
export interface RateLimits {
  /** Of each key, and of each operator. */
  readonly requestsPerMinute: number;
  readonly chatTurnsPerMinute: number;
  /** Of each user, all keys and sessions together. */
  readonly requestsPerUserAndMinute: number;
  readonly chatTurnsPerUserAndMinute: number;
  /** Of all members of an organization together; no budget where it is left out. */
  readonly requestsPerOrganizationAndMinute?: number | undefined;
  readonly chatTurnsPerOrganizationAndMinute?: number | undefined;
  /** Requests of one address without good credentials. */
  readonly refusalsPerMinute: number;
}

type Kind = "requests" | "chat" | "refusals";

export interface RateLimit {
  /** @throws DomainError `rate_limited`; the answer names the budget nearest to its end, what remains of it and when the minute is over. */
  countRequest(ctx: Context, principal: Principal, kind: "requests" | "chat"): Promise<void>;
  /** The same of an operator, who has no principal. */
  countOperator(ctx: Context, subject: string): Promise<void>;
  /** @throws DomainError `rate_limited` in the place of the refusal, which counts as `weight` requests, by default 1. */
  countRefusal(ctx: Context, weight?: number): Promise<void>;
}

const WINDOW_SECONDS = 60;

interface CountedBudget extends Budget {
  readonly kind: Kind;
  /** What its requests are counted under, in all processes. */
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
    const standings = await counter.count(
      budgets.map(({ caller, quota }) => ({ caller, limit: quota, weight })),
    );
    const { budget, standing } = nearestToItsEnd(budgets, standings);
    ctx.set({
      "RateLimit-Policy": policyItem(budget),
      "RateLimit-Limit": String(budget.quota),
      "RateLimit-Remaining": String(standing.remaining),
      "RateLimit-Reset": String(standing.resetSeconds),
    });
    if (standing.isWithin) return;
    rateLimited.inc({ budget: budget.kind });
    throw new DomainError("rate_limited", "Rate limit exceeded", {
      retryAfterSeconds: standing.resetSeconds,
    });
  };
  return {
    countRequest: (ctx, principal, kind) =>
      consume(ctx, [
        ...requestBudgets(limits, principal),
        ...(kind === "chat" ? chatBudgets(limits, principal) : []),
      ]),
    countOperator: (ctx, subject) =>
      consume(ctx, [budgetOf("operator", "requests", limits.requestsPerMinute, `operator ${subject}`)]),
    countRefusal: (ctx, weight) =>
      consume(ctx, [budgetOf("address", "refusals", limits.refusalsPerMinute, `address ${ctx.ip}`)], weight),
  };
}

/** From the narrowest to the widest. */
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

/** One that is used up, else the one with the least left; of several the widest, since another key would not help its caller. */
function nearestToItsEnd(
  budgets: readonly CountedBudget[],
  standings: readonly Standing[],
): { budget: CountedBudget; standing: Standing } {
  const pairs = budgets.map((budget, at) => ({ budget, standing: standings[at]! }));
  const left = ({ isWithin, remaining }: Standing): number => (isWithin ? remaining : -1);
  return pairs.reduce((nearest, pair) => (left(pair.standing) <= left(nearest.standing) ? pair : nearest));
}
