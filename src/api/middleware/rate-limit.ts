/** Counts requests and chat turns of each key or user in this process and refuses those above the minute's budget. */
import type { Context } from "koa";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { DomainError } from "../../domain/errors.ts";
import type { Principal } from "../../domain/principal.ts";

const WINDOW_SECONDS = 60;

export interface RateLimits {
  readonly requestsPerMinute: number;
  readonly chatTurnsPerMinute: number;
}

type Budget = "requests" | "chat";
export type CountRequest = (ctx: Context, principal: Principal, budget: Budget) => Promise<void>;

/** The counter throws DomainError `rate_limited`; the answer names the limit, what remains and when the minute is over. */
export function createRateLimit(limits: RateLimits): CountRequest {
  const requests = new RateLimiterMemory({ points: limits.requestsPerMinute, duration: WINDOW_SECONDS });
  const chatTurns = new RateLimiterMemory({ points: limits.chatTurnsPerMinute, duration: WINDOW_SECONDS });
  return async (ctx, principal, budget) => {
    const caller = principal.apiKeyId ?? principal.user.id;
    await consume(requests, ctx, caller);
    if (budget === "chat") await consume(chatTurns, ctx, caller);
  };
}

async function consume(limiter: RateLimiterMemory, ctx: Context, caller: string): Promise<void> {
  const state = await limiter.consume(caller).catch((refusal: unknown) => {
    if (refusal instanceof RateLimiterRes) return refusal;
    throw refusal;
  });
  const resetSeconds = Math.max(1, Math.ceil(state.msBeforeNext / 1_000));
  ctx.set({
    "RateLimit-Limit": String(limiter.points),
    "RateLimit-Remaining": String(Math.max(0, state.remainingPoints)),
    "RateLimit-Reset": String(resetSeconds),
  });
  if (state.consumedPoints > limiter.points) throw new DomainError("rate_limited", "Rate limit exceeded", { retryAfterSeconds: resetSeconds });
}
