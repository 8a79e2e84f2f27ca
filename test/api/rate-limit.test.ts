import { expect, test } from "vitest";
import { createRateLimit } from "../../src/api/middleware/rate-limit.ts";
import { DomainError } from "../../src/domain/errors.ts";
import type { Principal } from "../../src/domain/principal.ts";

const caller = (apiKeyId: string | null, userId = "user"): Principal => ({ apiKeyId, user: { id: userId } }) as Principal;

function counter() {
  const count = createRateLimit({ requestsPerMinute: 3, chatTurnsPerMinute: 1 });
  return async (principal: Principal, budget: "requests" | "chat" = "requests") => {
    const headers: Record<string, string> = {};
    const error = await count({ set: (more: Record<string, string>) => Object.assign(headers, more) } as never, principal, budget).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    return { headers, error };
  };
}

test("the request above the minute's budget is refused until the minute is over", async () => {
  const ask = counter();
  for (const remaining of ["2", "1", "0"])
    expect(await ask(caller("key"))).toMatchObject({ error: undefined, headers: { "RateLimit-Limit": "3", "RateLimit-Remaining": remaining } });
  const { error, headers } = await ask(caller("key"));
  expect(error).toBeInstanceOf(DomainError);
  expect(error).toMatchObject({ code: "rate_limited", retryAfterSeconds: Number(headers["RateLimit-Reset"]) });
  expect(Number(headers["RateLimit-Reset"])).toBeGreaterThan(0);
});

test("keys and users are counted each by itself", async () => {
  const ask = counter();
  for (let turn = 0; turn < 3; turn++) await ask(caller("one"));
  expect((await ask(caller("one"))).error).toBeDefined();
  expect((await ask(caller("two"))).error).toBeUndefined();
  expect((await ask(caller(null))).error).toBeUndefined();
});

test("chat turns have a budget of their own within it", async () => {
  const ask = counter();
  expect((await ask(caller("key"), "chat")).error).toBeUndefined();
  expect((await ask(caller("key"), "chat")).error).toMatchObject({ code: "rate_limited" });
  expect((await ask(caller("key"))).error).toBeUndefined();
});
