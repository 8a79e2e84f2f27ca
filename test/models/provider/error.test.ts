import { expect, test } from "vitest";
import { providerError, retryAfterSeconds } from "../../../src/models/provider/error.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

test.each<[Record<string, string>, number | undefined]>([
  [{}, undefined],
  [{ "retry-after": "3" }, 3],
  [{ "retry-after": "0.5" }, 0.5],
  [{ "retry-after": "Thu, 01 Jan 2026 00:01:00 GMT" }, 60],
  [{ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
  [{ "retry-after": "-4" }, 0],
  [{ "retry-after": "99999999" }, 86_400],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after-ms": "250" }, 0.25],
])("%j waits %s s", (headers, expected) => {
  expect(retryAfterSeconds(new Headers(headers), NOW)).toBe(expected);
});

test("a mistake of our own is not taken for an outage", () => {
  const mistake = new TypeError("x is undefined");
  expect(providerError(mistake)).toBe(mistake);
});
