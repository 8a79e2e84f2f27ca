import { expect, test } from "vitest";
import { type RateLimits, createRateLimit } from "../../src/api/middleware/rate-limit.ts";
import { type SharedCounter, createSharedCounter } from "../../src/api/limits/shared-counter.ts";
import { addCallerCounts } from "../../src/db/instance/rate-limits.ts";
import { DomainError } from "../../src/domain/errors.ts";
import type { Principal } from "../../src/domain/tenancy/principal.ts";
import { createTestDatabase } from "../support/servers/database.ts";
import { until } from "../support/until.ts";

const caller = (apiKeyId: string | null, userId = `owner of ${apiKeyId}`): Principal =>
  ({ apiKeyId, user: { id: userId }, organization: { id: "organization" } }) as Principal;
const countOf = async (counter: SharedCounter, limit: number) =>
  (await counter.count([{ caller: "key", limit }]))[0]!;
const alone = (): SharedCounter => createSharedCounter({ add: async () => [], now: () => 1_000_000 });

const LIMITS: RateLimits = {
  requestsPerMinute: 3,
  chatTurnsPerMinute: 1,
  requestsPerUserAndMinute: 3,
  chatTurnsPerUserAndMinute: 1,
  refusalsPerMinute: 2,
};

function limiter(limits: Partial<RateLimits> = {}, counter = alone()) {
  const limit = createRateLimit({ ...LIMITS, ...limits }, counter);
  const told = async (count: (ctx: never) => Promise<void>) => {
    const headers: Record<string, string> = {};
    const ctx = { ip: "192.0.2.1", set: (more: Record<string, string>) => Object.assign(headers, more) };
    const error = await count(ctx as never).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    return { headers, error };
  };
  return {
    ask: (principal: Principal, budget: "requests" | "chat" = "requests") =>
      told((ctx) => limit.countRequest(ctx, principal, budget)),
    refuse: () => told((ctx) => limit.countRefusal(ctx)),
  };
}

test("the request above the minute's budget is refused until the minute is over", async () => {
  const { ask } = limiter();
  for (const remaining of ["2", "1", "0"])
    expect(await ask(caller("key"))).toMatchObject({
      error: undefined,
      headers: { "RateLimit-Limit": "3", "RateLimit-Remaining": remaining },
    });
  const { error, headers } = await ask(caller("key"));
  expect(error).toBeInstanceOf(DomainError);
  expect(error).toMatchObject({
    code: "rate_limited",
    retryAfterSeconds: Number(headers["RateLimit-Reset"]),
  });
  expect(Number(headers["RateLimit-Reset"])).toBeGreaterThan(0);
});

test("each user and each address is counted separately", async () => {
  const { ask, refuse } = limiter();
  for (let turn = 0; turn < 3; turn++) await ask(caller("one"));
  expect((await ask(caller("one"))).error).toBeDefined();
  expect((await ask(caller("two"))).error).toBeUndefined();
  expect((await ask(caller(null))).error).toBeUndefined();
  expect([(await refuse()).error, (await refuse()).error]).toEqual([undefined, undefined]);
  expect((await refuse()).error).toMatchObject({ code: "rate_limited" });
});

test("all keys of a user and the user's own sessions share the user's budget", async () => {
  const { ask } = limiter();
  for (const key of ["one", "two", null]) expect((await ask(caller(key, "ada"))).error).toBeUndefined();
  for (const key of ["one", "two", "three", null]) {
    const { error, headers } = await ask(caller(key, "ada"));
    expect(error).toMatchObject({ code: "rate_limited" });
    expect(headers).toMatchObject({
      "RateLimit-Policy": '"user-requests";q=3;w=60',
      "RateLimit-Limit": "3",
      "RateLimit-Remaining": "0",
    });
  }
  expect((await ask(caller("four", "bob"))).error).toBeUndefined();
});

test("a key's refused requests take nothing from the larger budget of its user", async () => {
  const { ask } = limiter({ requestsPerUserAndMinute: 5 });
  for (const left of ["2", "1", "0"]) {
    expect((await ask(caller("one", "ada"))).headers).toMatchObject({
      "RateLimit-Policy": '"key-requests";q=3;w=60',
      "RateLimit-Remaining": left,
    });
  }
  for (let at = 0; at < 10; at += 1)
    expect(await ask(caller("one", "ada"))).toMatchObject({
      error: { code: "rate_limited" },
      headers: { "RateLimit-Policy": '"key-requests";q=3;w=60' },
    });
  for (const left of ["1", "0"]) {
    expect(await ask(caller("two", "ada"))).toMatchObject({
      error: undefined,
      headers: { "RateLimit-Policy": '"user-requests";q=5;w=60', "RateLimit-Remaining": left },
    });
  }
  expect((await ask(caller("two", "ada"))).error).toMatchObject({ code: "rate_limited" });
});

test("an organization has a budget if a setting says so, and a refusal names it", async () => {
  const unlimited = limiter();
  for (let at = 0; at < 10; at += 1) expect((await unlimited.ask(caller(`key ${at}`))).error).toBeUndefined();
  const { ask } = limiter({ requestsPerOrganizationAndMinute: 4, chatTurnsPerOrganizationAndMinute: 2 });
  for (const user of ["ada", "bob"]) expect((await ask(caller(null, user), "chat")).error).toBeUndefined();
  expect(await ask(caller(null, "eve"), "chat")).toMatchObject({
    error: { code: "rate_limited" },
    headers: { "RateLimit-Policy": '"organization-chat";q=2;w=60' },
  });
  for (const user of ["ada", "bob"]) expect((await ask(caller(null, user))).error).toBeUndefined();
  expect(await ask(caller(null, "eve"))).toMatchObject({
    error: { code: "rate_limited" },
    headers: { "RateLimit-Policy": '"organization-requests";q=4;w=60' },
  });
});

test("a request is counted in all of its budgets with one statement", async () => {
  const statements: string[][] = [];
  const counter = createSharedCounter({
    now: () => 1_000_000,
    add: async (counts) => {
      statements.push(counts.map((count) => count.caller));
      return counts;
    },
  });
  const { ask } = limiter(
    { requestsPerOrganizationAndMinute: 4, chatTurnsPerOrganizationAndMinute: 2 },
    counter,
  );
  expect((await ask(caller("key", "ada"), "chat")).error).toBeUndefined();
  expect(statements).toEqual([
    ["key", "ada", "organization organization", "chat key", "chat ada", "chat organization organization"],
  ]);
});

test("chat turns have a budget of their own within it", async () => {
  const { ask } = limiter();
  expect((await ask(caller("key"), "chat")).error).toBeUndefined();
  expect((await ask(caller("key"), "chat")).error).toMatchObject({ code: "rate_limited" });
  expect((await ask(caller("key"))).error).toBeUndefined();
});

test("two processes share one limit, and far from it no request asks the database", async () => {
  const database = await createTestDatabase();
  let statements = 0;
  const process = (): SharedCounter =>
    createSharedCounter({
      now: () => 1_000_000,
      add: (counts) => {
        statements += 1;
        return addCallerCounts(database.db, counts);
      },
    });
  try {
    const [one, other] = [process(), process()];
    const first = await Promise.all(Array.from({ length: 40 }, () => countOf(one, 100)));
    expect(first.every(({ isWithin }) => isWithin)).toBe(true);
    expect(statements).toBe(0);
    await until("what one counted is known to the other", async () => {
      await Promise.all([one.close(), other.close()]);
      const { rows } = await database.db.owner.query("select count from rate_limits where caller = 'key'");
      return rows[0]?.count === 40;
    });
    const rest = await Promise.all(
      Array.from({ length: 200 }, (_, at) => countOf(at % 2 === 0 ? one : other, 100)),
    );
    const let_through = rest.filter(({ isWithin }) => isWithin).length;
    // Until the next flush, one process may let through what the other has counted: less than one flush of
    // it.
    expect(let_through).toBeGreaterThanOrEqual(60);
    expect(let_through).toBeLessThanOrEqual(60 + 90);
    await Promise.all([one.close(), other.close()]);
    for (const counter of [one, other])
      expect(await countOf(counter, 100)).toMatchObject({ isWithin: false, remaining: 0 });
    expect(statements).toBeLessThan(40);
  } finally {
    await database.drop();
  }
});

test("near the limit the count is exact over parallel requests of several processes", async () => {
  const database = await createTestDatabase();
  try {
    const processes = Array.from({ length: 3 }, () =>
      createSharedCounter({ now: () => 1_000_000, add: (counts) => addCallerCounts(database.db, counts) }),
    );
    const answers = await Promise.all(Array.from({ length: 30 }, (_, at) => countOf(processes[at % 3]!, 5)));
    expect(answers.filter(({ isWithin }) => isWithin)).toHaveLength(5);
  } finally {
    await database.drop();
  }
});

test("a new minute begins at zero, and each process counts alone while the database is down", async () => {
  let now = 0;
  const counter = createSharedCounter({ now: () => now, add: () => Promise.reject(new Error("away")) });
  for (let at = 0; at < 3; at += 1) expect((await countOf(counter, 3)).isWithin).toBe(true);
  expect((await countOf(counter, 3)).isWithin).toBe(false);
  now = 60_000;
  expect((await countOf(counter, 3)).isWithin).toBe(true);
});
