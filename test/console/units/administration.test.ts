/** What the screens of keys, usage and the audit log work out of what the service says. */
import { describe, expect, test } from "vitest";
import { errorUnder } from "../../../console/src/parts/lists/error-under.ts";
import { fileNameOf } from "../../../console/src/parts/lists/file-name.ts";
import { groupsOf } from "../../../console/src/screens/access/rights.ts";
import { mayRoll, stateOf } from "../../../console/src/screens/keys/key-state.ts";
import { allowedDays, expiryOf } from "../../../console/src/screens/keys/lifetime.ts";
import { filtersOf } from "../../../console/src/screens/organization/audit/filters.ts";
import {
  type Row,
  daysOf,
  rangeOf,
  sumsBy,
  totalOf,
} from "../../../console/src/screens/organization/usage/series.ts";
import { budgetOf } from "../../../console/src/screens/organization/usage/budget.ts";

const NOW = Date.parse("2026-01-31T12:00:00Z");

type Key = Parameters<typeof stateOf>[0];

const key = (fields: Partial<Key>): Key => ({
  user_id: "ada",
  created_by: "ada",
  expires_at: null,
  revoked_at: null,
  revoked_reason: null,
  ...fields,
});

const used = (day: string, fields: Partial<Row>): Row => ({
  day,
  user_id: null,
  api_key_id: null,
  agent_id: null,
  prompt_tokens: 0,
  completion_tokens: 0,
  turns: 0,
  documents: 0,
  bytes: 0,
  ...fields,
});

describe("a key", () => {
  test("is in use until it is revoked or its time is over", () => {
    expect(stateOf(key({}), NOW)).toBe("active");
    expect(stateOf(key({ expires_at: "2026-01-31T12:00:00.000Z" }), NOW)).toBe("expired");
    expect(stateOf(key({ revoked_at: "2026-01-01T00:00:00Z", revoked_reason: null }), NOW)).toBe("revoked");
    expect(stateOf(key({ revoked_at: "2026-01-01T00:00:00Z", revoked_reason: "leaked" }), NOW)).toBe(
      "leaked",
    );
  });

  test("is rolled by its owner, and by admins only if an admin made it", () => {
    expect(mayRoll(key({}), true)).toBe(true);
    expect(mayRoll(key({}), false)).toBe(false);
    expect(mayRoll(key({ created_by: null }), false)).toBe(false);
    expect(mayRoll(key({ created_by: "grace" }), false)).toBe(true);
    expect(mayRoll(key({ created_by: "grace", revoked_at: "2026-01-01T00:00:00Z" }), true)).toBe(false);
  });

  test("lives as the organization says, for some days, or to the end of a day", () => {
    expect(expiryOf({ choice: "", date: "2026-02-01" }, NOW)).toBeNull();
    expect(expiryOf({ choice: "7", date: "" }, NOW)).toBe("2026-02-07T12:00:00.000Z");
    const end = new Date(2026, 1, 1, 23, 59, 59).toISOString();
    expect(expiryOf({ choice: "date", date: "2026-02-01" }, NOW)).toBe(end);
  });

  test("is offered no life that the organization forbids", () => {
    expect(allowedDays(90 * 86_400)).toEqual([7, 30, 90]);
    expect(allowedDays(null)).toContain(365);
  });
});

describe("usage", () => {
  const range = rangeOf(3, NOW);
  const rows = [
    used("2026-01-29", { turns: 1, prompt_tokens: 10, completion_tokens: 5, user_id: "ada" }),
    used("2026-01-31", { turns: 2, prompt_tokens: 20, user_id: "grace" }),
    used("2026-01-31", { documents: 4, bytes: 100, user_id: "ada" }),
  ];

  test("has each day of its range, with today and in UTC", () => {
    expect(range).toEqual({ from: "2026-01-29", to: "2026-02-01" });
    expect(daysOf(rows, range)).toEqual([
      { day: "2026-01-29", sums: { turns: 1, tokens: 15, documents: 0, bytes: 0 } },
      { day: "2026-01-30", sums: { turns: 0, tokens: 0, documents: 0, bytes: 0 } },
      { day: "2026-01-31", sums: { turns: 2, tokens: 20, documents: 4, bytes: 100 } },
    ]);
  });

  test("is added up by person, those with most answers first", () => {
    expect(sumsBy(rows, "user")).toEqual([
      { id: "grace", sums: { turns: 2, tokens: 20, documents: 0, bytes: 0 } },
      { id: "ada", sums: { turns: 1, tokens: 15, documents: 4, bytes: 100 } },
    ]);
    expect(sumsBy(rows, "key")).toEqual([{ id: null, sums: totalOf(rows) }]);
  });

  test("shows a budget only if the service says all of it", () => {
    const headers = {
      "ratelimit-policy": '"user-requests";q=600;w=60',
      "ratelimit-limit": "600",
      "ratelimit-remaining": "598",
      "ratelimit-reset": "46",
    };
    expect(budgetOf(new Headers(headers))).toEqual({
      policy: "user-requests",
      quota: 600,
      left: 598,
      seconds: 46,
    });
    expect(budgetOf(new Headers({ ...headers, "ratelimit-remaining": "" }))?.left).toBe(0);
    expect(budgetOf(new Headers({ "ratelimit-policy": '"user-requests"' }))).toBeUndefined();
    expect(budgetOf(new Headers())).toBeUndefined();
  });
});

test("the filters of the audit log hold whole days where the person is, and nothing that was not asked", () => {
  expect(filtersOf({})).toBeUndefined();
  expect(JSON.parse(filtersOf({ action: "documents:", from: "2026-01-30", to: "2026-01-31" })!)).toEqual({
    action__startswith: "documents:",
    at__gte: new Date(2026, 0, 30).toISOString(),
    at__lte: new Date(2026, 0, 31, 23, 59, 59, 999).toISOString(),
  });
  // What stands in an address by hand is left out, not sent.
  expect(filtersOf({ from: "yesterday" })).toBeUndefined();
});

test("rights are told in the words of people", () => {
  expect(groupsOf(["spaces:read", "documents:read", "documents:search"])).toEqual(["read", "search"]);
  expect(groupsOf([])).toEqual([]);
});

test("what is wrong within a list is said of its field", () => {
  const problems = { "allowed_cidrs.1": "must be a network", name: "is blank" };
  expect(errorUnder(problems, "allowed_cidrs")).toBe("must be a network");
  expect(errorUnder(problems, "name")).toBe("is blank");
  expect(errorUnder(problems, "nam")).toBeUndefined();
});

test("a file is named after what it is of, in letters that every system takes", () => {
  expect(fileNameOf("Nachtimport/../ü", "txt")).toBe("Nachtimport-..-ü.txt");
});
