import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { DomainError } from "../../src/domain/errors.ts";
import { StartError } from "../../src/embedded/start-error.ts";
import { describeFailure } from "../../src/domain/expected-failure.ts";

function systemError(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

describe("an expected failure is reported without a stack trace", () => {
  const refused = systemError("connect ECONNREFUSED 127.0.0.1:5432", "ECONNREFUSED");
  test.each<[string, unknown, string]>([
    [
      "wrong settings, all of them",
      thrownBy(() => loadConfig({ PORT: "no", MASTER_KEY: "secret" })),
      "The settings are not valid:\n  PORT must be",
    ],
    [
      "what names the way out itself",
      new StartError("Port 8080 is in use. Set PORT to another one."),
      "Port 8080 is in use. Set PORT to another one.",
    ],
    [
      "an outage, with its reason",
      new DomainError("database_unavailable", "The database is not reachable.", { cause: refused }),
      `The database is not reachable: ${refused.message}`,
    ],
    [
      "a host with two addresses",
      new DomainError("database_unavailable", "The database is not reachable.", {
        cause: new AggregateError([refused, refused]),
      }),
      `The database is not reachable: ${refused.message}`,
    ],
    [
      "an outage without a reason",
      new DomainError("storage_unavailable", "The object store is not available."),
      "The object store is not available.",
    ],
    [
      "a right that is missing",
      systemError("EACCES: permission denied, mkdir '/data'", "EACCES"),
      "EACCES: permission denied, mkdir '/data'",
    ],
    [
      "what wraps a failure of the system",
      new TypeError("fetch failed", { cause: refused }),
      refused.message,
    ],
    [
      "a schema of before",
      Object.assign(new Error('relation "turns" does not exist'), { code: "42P01", severity: "ERROR" }),
      "holdfast migrate",
    ],
    [
      "a namespace that Temporal does not have",
      Object.assign(new Error("5 NOT_FOUND: Namespace nope is not found."), {
        code: 5,
        details: "Namespace nope is not found.",
      }),
      "Temporal has no namespace nope: create it, or set TEMPORAL_NAMESPACE",
    ],
    [
      "a folder below a file",
      systemError("ENOTDIR: not a directory, mkdir '/etc/passwd/x'", "ENOTDIR"),
      "ENOTDIR: not a directory, mkdir '/etc/passwd/x'",
    ],
    [
      "a Temporal that is away",
      Object.assign(new Error("14 UNAVAILABLE: no connection"), { code: 14, details: "no connection" }),
      "Temporal is not reachable: 14 UNAVAILABLE",
    ],
  ])("%s", (_, error, expected) => {
    expect(describeFailure(error)).toContain(expected);
  });
});

test("values of settings are not repeated", () => {
  expect(describeFailure(thrownBy(() => loadConfig({ MASTER_KEY: "c2VjcmV0" })))).not.toContain("c2VjcmV0");
});

describe("what nobody expected keeps its stack", () => {
  test.each<[string, unknown]>([
    ["a mistake of ours", new TypeError("x is not a function")],
    ["a failure that says it is internal", new DomainError("internal", "Not an object name.")],
    [
      "a statement that Postgres cannot read",
      Object.assign(new Error("syntax error"), { code: "42601", severity: "ERROR" }),
    ],
    ["no error at all", "text"],
  ])("%s", (_, error) => {
    expect(describeFailure(error)).toBeUndefined();
  });
});
