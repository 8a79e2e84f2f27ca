/** Bounds how many pages a user and this process have in the making at once. */
import type { Budget } from "../../domain/budget.ts";
import { DomainError } from "../../domain/errors.ts";
import { rateLimited } from "../../telemetry/instruments.ts";

const PAGES_PER_USER = 8;
const PAGES_PER_PROCESS = 64;
const RETRY_AFTER_SECONDS = 1;

/** @returns what takes a seat of a user. That throws `too_many_open`, or returns what gives the seat back. */
export function createPageSeats(): (userId: string) => () => void {
  const taken = new Map<string, number>();
  let all = 0;
  return (userId) => {
    const own = taken.get(userId) ?? 0;
    if (own >= PAGES_PER_USER) throw refusal({ name: "user-pages", quota: PAGES_PER_USER });
    if (all >= PAGES_PER_PROCESS) throw refusal({ name: "process-pages", quota: PAGES_PER_PROCESS });
    taken.set(userId, own + 1);
    all += 1;
    return () => {
      all -= 1;
      const left = (taken.get(userId) ?? 1) - 1;
      if (left === 0) taken.delete(userId);
      else taken.set(userId, left);
    };
  };
}

function refusal(budget: Budget): DomainError {
  rateLimited.inc({ budget: "pages" });
  return new DomainError("too_many_open", `Too many pages in the making: at most ${budget.quota}`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    budget,
  });
}
