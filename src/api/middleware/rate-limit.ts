/** Refuses requests above the minute's budget: of each key or user, its chat turns, and of each address whose credentials were refused. */
import type { Context } from "koa";
import { DomainError } from "../../domain/errors.ts";
import type { Principal } from "../../domain/principal.ts";
import { rateLimited } from "../../telemetry/instruments.ts";
import type { SharedCounter } from "../shared-counter.ts";

export interface RateLimits {
  readonly requestsPerMinute: number;
  readonly chatTurnsPerMinute: number;
  /** Requests of one address without good credentials. */
  readonly refusalsPerMinute: number;
}

type Budget = "requests" | "chat";

export interface RateLimit {
  /** @throws DomainError `rate_limited`; the answer names the limit, what remains and when the minute is over. */
  countRequest(ctx: Context, principal: Principal, budget: Budget): Promise<void>;
  /** The same of an operator, who has no principal. */
  countOperator(ctx: Context, subject: string): Promise<void>;
  /** @throws DomainError `rate_limited` in the place of the refusal. */
  countRefusal(ctx: Context): Promise<void>;
}

export function createRateLimit(limits: RateLimits, counter: Pick<SharedCounter, "count">): RateLimit {
  const limitOf = { requests: limits.requestsPerMinute, chat: limits.chatTurnsPerMinute, refusals: limits.refusalsPerMinute };
  const consume = async (ctx: Context, budget: Budget | "refusals", caller: string): Promise<void> => {
    const limit = limitOf[budget];
    const { isWithin, remaining, resetSeconds } = await counter.count(caller, limit);
    ctx.set({ "RateLimit-Limit": String(limit), "RateLimit-Remaining": String(remaining), "RateLimit-Reset": String(resetSeconds) });
    if (isWithin) return;
    rateLimited.inc({ budget });
    throw new DomainError("rate_limited", "Rate limit exceeded", { retryAfterSeconds: resetSeconds });
  };
  return {
    async countRequest(ctx, principal, budget) {
      const caller = principal.apiKeyId ?? principal.user.id;
      await consume(ctx, "requests", caller);
      if (budget === "chat") await consume(ctx, "chat", `chat ${caller}`);
    },
    countOperator: (ctx, subject) => consume(ctx, "requests", `operator ${subject}`),
    countRefusal: (ctx) => consume(ctx, "refusals", `address ${ctx.ip}`),
  };
}
