/** Where a request comes from behind proxies: lists of addresses, budgets and the last use of keys rest on it. */
import { expect, test } from "vitest";
import { createSharedCounter } from "../../src/api/limits/shared-counter.ts";
import { defineRoute } from "../../src/api/route.ts";
import { leakedKeyRoutes } from "../../src/api/routes/callers/leaked-keys.ts";
import { DomainError } from "../../src/domain/errors.ts";
import { startTinyApp } from "../support/stack/tiny-app.ts";

test.each([
  [0, "203.0.113.9", "127.0.0.1"],
  [1, "203.0.113.9", "203.0.113.9"],
  [1, "198.51.100.1, 203.0.113.9", "203.0.113.9"],
  [2, "198.51.100.1, 203.0.113.9, 10.0.0.1", "203.0.113.9"],
  [1, undefined, "127.0.0.1"],
  [2, "203.0.113.9", "203.0.113.9"],
  [1, "203.0.113.9:4711", "203.0.113.9:4711"],
])(
  "behind %i proxies a request with X-Forwarded-For %s comes from %s, whatever its client wrote there first",
  async (trustedProxies, forwarded, address) => {
    const seen: string[] = [];
    const authenticator = {
      authenticate: async (credentials: { address: string }) =>
        Promise.reject(new DomainError("unauthenticated", String(seen.push(credentials.address)))),
    };
    const route = defineRoute({
      access: "keys",
      status: 200,
      summary: "A test.",
      tags: ["Test"],
      method: "GET",
      path: "/who",
      handle: async () => undefined,
    });
    const behind = await startTinyApp([route], {
      config: { api: { trustedProxies, corsOrigins: [] }, limits: { refusalsPerMinute: 100 } } as never,
      authenticator: authenticator as never,
    });
    try {
      expect(
        (
          await fetch(`${behind.url}/v1/who`, {
            headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
          })
        ).status,
      ).toBe(401);
      expect(seen.map((one) => one.replace("::ffff:", ""))).toEqual([address]);
    } finally {
      await behind.close();
    }
  },
);

test("a report of leaked keys counts as many requests as it has texts, and one beyond the budget is not taken", async () => {
  const reported: string[][] = [];
  const app = await startTinyApp(leakedKeyRoutes, {
    config: { api: { trustedProxies: 0, corsOrigins: [] }, limits: { refusalsPerMinute: 30 } } as never,
    callerCounts: createSharedCounter({ add: async () => [], now: () => 0 }),
    leakedKeys: { report: async (keys: string[]) => void reported.push(keys) } as never,
  });
  const report = async (texts: number) => {
    const body = JSON.stringify({ keys: Array.from({ length: texts }, (_, index) => `sk-${index}`) });
    const answer = await fetch(`${app.url}/v1/api-keys/revoke-leaked`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    return [answer.status, answer.headers.get("ratelimit-remaining")];
  };
  try {
    expect([await report(20), await report(0), await report(1), await report(8), await report(1)]).toEqual([
      [202, "10"],
      [202, "9"],
      [202, "8"],
      [202, "0"],
      [429, "0"],
    ]);
    expect(reported.map((texts) => texts.length)).toEqual([20, 0, 1, 8]);
  } finally {
    await app.close();
  }
});

test("reports of leaked keys are counted for their address before anything of them is read, and above its budget none is taken", async () => {
  const reported: string[][] = [];
  const app = await startTinyApp(leakedKeyRoutes, {
    config: { api: { trustedProxies: 1, corsOrigins: [] }, limits: { refusalsPerMinute: 2 } } as never,
    callerCounts: createSharedCounter({ add: async () => [], now: () => 0 }),
    leakedKeys: { report: async (keys: string[]) => void reported.push(keys) } as never,
  });
  const report = async (address: string, body: string): Promise<number> => {
    const headers = { "content-type": "application/json", "x-forwarded-for": address };
    return (await fetch(`${app.url}/v1/api-keys/revoke-leaked`, { method: "POST", headers, body })).status;
  };
  try {
    const body = JSON.stringify({ keys: ["sk-one"] });
    expect([
      await report("203.0.113.9", body),
      await report("203.0.113.9", "no JSON"),
      await report("203.0.113.9", body),
    ]).toEqual([202, 422, 429]);
    expect(await report("203.0.113.10", body)).toBe(202);
    expect(reported).toEqual([["sk-one"], ["sk-one"]]);
  } finally {
    await app.close();
  }
});
