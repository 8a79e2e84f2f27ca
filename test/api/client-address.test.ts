/**
 * Which address a request comes from behind proxies: address lists, rate limits and the last use of keys need
 * it.
 */
import { expect, test } from "vitest";
import { createSharedCounter } from "../../src/api/limits/shared-counter.ts";
import { defineRoute } from "../../src/api/route.ts";
import { leakedKeyRoutes } from "../../src/api/routes/callers/leaked-keys.ts";
import type { Authenticator } from "../../src/auth/authenticate.ts";
import type { LeakedKeys } from "../../src/auth/leaked-keys.ts";
import { DomainError } from "../../src/domain/errors.ts";
import { startTinyApp } from "../support/app/tiny-app.ts";

/** Keeps the texts of each report instead of revoking keys. */
function reportingTo(reported: (readonly string[])[]): LeakedKeys {
  return {
    async report(texts) {
      reported.push(texts);
    },
    flush: async () => {},
    close: async () => {},
  };
}

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
    const authenticator: Authenticator = {
      async authenticate({ address: from }) {
        seen.push(from);
        throw new DomainError("unauthenticated", "Nobody is let in.");
      },
      authenticateOperator: () => Promise.reject(new Error("no operator")),
      forgetUser: () => undefined,
    };
    const route = defineRoute("GET /who", {
      access: "keys",
      status: 200,
      summary: "A test.",
      handle: async () => undefined,
    });
    const behind = await startTinyApp([route], {
      settings: { TRUSTED_PROXIES: String(trustedProxies), REFUSAL_RATE_LIMIT_RPM: "100" },
      authenticator,
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

test("a report of leaked keys counts as many requests as it has texts, within its budget", async () => {
  const reported: (readonly string[])[] = [];
  const app = await startTinyApp(leakedKeyRoutes, {
    settings: { REFUSAL_RATE_LIMIT_RPM: "30" },
    callerCounts: createSharedCounter({ add: async () => [], now: () => 0 }),
    leakedKeys: reportingTo(reported),
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

test("a report of leaked keys is counted for its address before its body is read", async () => {
  const reported: (readonly string[])[] = [];
  const app = await startTinyApp(leakedKeyRoutes, {
    settings: { TRUSTED_PROXIES: "1", REFUSAL_RATE_LIMIT_RPM: "2" },
    callerCounts: createSharedCounter({ add: async () => [], now: () => 0 }),
    leakedKeys: reportingTo(reported),
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
