/** Text that foreign errors quote never reaches the log, wherever in the error it is. */
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { DomainError } from "../../src/domain/errors.ts";
import { ExpectedFailure } from "../../src/domain/expected-failure.ts";
import { createLog } from "../../src/process/log.ts";

const CANARY = "canary of the quarterly report";

function logged(error: unknown, field = "err"): { err: Record<string, unknown> } {
  const lines: string[] = [];
  const log = createLog({ level: "debug", name: "test", destination: { write: (line) => lines.push(line) } });
  log.error({ [field]: error });
  if (error instanceof Error) log.error(error);
  expect(lines.join("")).not.toContain("canary");
  return JSON.parse(lines[0]!) as { err: Record<string, unknown> };
}

function thrown(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("Nothing was thrown.");
}

class DatabaseError extends Error {
  readonly severity = "ERROR";
  readonly code = "23505";
  readonly constraint = "documents_path_key";
  readonly detail = `Key (path)=(${CANARY}) already exists.`;
  readonly where = CANARY;
  readonly parameters = [CANARY];
}

describe("no text is in the line of", () => {
  test.each<[what: string, error: unknown]>([
    ["a message of one line", new Error(CANARY)],
    ["a message of many lines", new Error(`first\n\n${CANARY}\n  third\n${CANARY}`)],
    [
      "a message that looks like a stack",
      new Error(`x\n    at ${CANARY}\n    at canary (/a/b.ts:1:2)\n    at canary (/a/b.ts:3:4)`),
    ],
    [
      "a message that was changed since",
      Object.assign(new Error(`${CANARY}\n${CANARY}`), { message: "later" }),
    ],
    ["what a parser of the runtime quotes", thrown(() => JSON.parse(`["${CANARY}" ${CANARY}]`))],
    ["fields of its own", Object.assign(new Error("x"), { request: { body: CANARY }, document: CANARY })],
    [
      "a name or a code with text",
      Object.assign(new Error("x"), { name: CANARY, code: CANARY, constraint: CANARY }),
    ],
    [
      "a cause, and the cause of that",
      new TypeError("x", { cause: new Error("y", { cause: new DatabaseError(CANARY) }) }),
    ],
    [
      "many errors at once",
      new AggregateError(
        [new Error(CANARY), new AggregateError([new DatabaseError(CANARY)], CANARY)],
        CANARY,
      ),
    ],
    [
      "the cause of an outage",
      new DomainError("provider_unavailable", "The provider is away.", { cause: new Error(CANARY) }),
    ],
    ["the cause of an expected failure", new ExpectedFailure("The file cannot be read.", new Error(CANARY))],
    [
      "a Temporal that is away",
      Object.assign(new Error(`14 UNAVAILABLE: ${CANARY}`), { code: 14, details: CANARY }),
    ],
    [
      "another realm",
      { name: "Error", message: CANARY, stack: `Error: ${CANARY}\n    at run (/a/b.ts:1:2)` },
    ],
    ["what is no error at all", CANARY],
    ["no stack", Object.assign(new Error(CANARY), { stack: undefined })],
  ])("%s", (_what, error) => {
    expect(logged(error)).toHaveProperty("err");
  });
});

test("an error under another name than err is described as one", () => {
  expect(logged(new DatabaseError(CANARY), "reason")).toMatchObject({ reason: { code: "23505" } });
});

test("a failure of the database keeps class, SQLSTATE, constraint and the place where it was thrown", () => {
  expect(logged(new DatabaseError(CANARY)).err).toEqual({
    type: "DatabaseError",
    code: "23505",
    constraint: "documents_path_key",
    stack: expect.stringMatching(/^ {4}at .*error-fields\.test\.ts:\d+:\d+/),
  });
});

test("an error of the system keeps its message, which names the path", async () => {
  const error: unknown = await readFile("/nowhere/at/all").catch((failed: unknown) => failed);
  expect(logged(error).err).toMatchObject({
    code: "ENOENT",
    message: "ENOENT: no such file or directory, open '/nowhere/at/all'",
  });
});

test("a chain of causes that leads back to itself ends", () => {
  const error = new Error("x");
  error.cause = error;
  expect(JSON.stringify(logged(error)).length).toBeLessThan(20_000);
});
