import { expect, it } from "vitest";
import { createKeyText } from "../../src/auth/api-keys.ts";
import { DomainError } from "../../src/domain/errors.ts";
import { createLog } from "../../src/process/log.ts";

const KEY = createKeyText();
const CHOSEN_KEY = `sk-chosen-"quoted"-${"x".repeat(30)}`;
const JWT = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl";

function logged(write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = [];
  write(createLog({ level: "debug", name: "test", destination: { write: (line) => lines.push(line) } }));
  expect(lines).toHaveLength(1);
  return lines[0]!;
}

it.each<[string, (log: ReturnType<typeof createLog>) => void]>([
  [
    "in a header",
    (log) =>
      log.info({ req: { headers: { authorization: `Bearer ${KEY}`, cookie: `session=${KEY}` } } }, "request"),
  ],
  ["in the message", (log) => log.info(`refused ${KEY} and ${JWT}`)],
  [
    "in an error and its stack",
    (log) =>
      log.error({ err: new Error(`the provider said: Incorrect API key ${KEY} (Bearer ${JWT})`) }, "failed"),
  ],
  [
    "in a field nobody thought of",
    (log) => log.info({ anything: { deep: [`x ${KEY}`, { deeper: JWT }] } }, "x"),
  ],
  ["that a person chose, with quotes inside", (log) => log.info({ note: `key is ${CHOSEN_KEY} ok` }, "x")],
  [
    "in fields named for secrets",
    (log) => log.info({ token: JWT, api_key: KEY, settings: { password: KEY, secret: CHOSEN_KEY } }, "x"),
  ],
])("a secret %s is not in the line", (_where, write) => {
  const line = logged(write);
  for (const secret of [KEY, CHOSEN_KEY.slice(10, 16), CHOSEN_KEY.slice(-20), JWT, JWT.split(".")[1]!])
    expect(line).not.toContain(secret);
  expect(() => JSON.parse(line) as unknown).not.toThrow();
});

it("the password of a database URL is not in the line, the rest of it is", () => {
  const line = logged((log) =>
    log.info("cannot reach postgres://holdfast:hunter2secret@db.example:5432/holdfast"),
  );
  expect(line).not.toContain("hunter2secret");
  expect(line).toContain("db.example:5432");
});

it("what is not secret stays as it is, on one line of JSON with level, time and name", () => {
  const line = logged((log) =>
    log.info(
      { request_id: "task-sk-1", queue: "task-queue-pipeline-long-name", url: "http://127.0.0.1:8080/v1" },
      "a disk-based bearer of news",
    ),
  );
  expect(line.trimEnd()).not.toContain("\n");
  expect(JSON.parse(line)).toMatchObject({
    msg: "a disk-based bearer of news",
    level: "info",
    name: "test",
    request_id: "task-sk-1",
    queue: "task-queue-pipeline-long-name",
    url: "http://127.0.0.1:8080/v1",
  });
  expect(JSON.parse(line)).toHaveProperty("time", expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/));
});

it("an outage is a sentence without a stack; an unexpected error keeps its stack", () => {
  const cause = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), {
    code: "ECONNREFUSED",
    errno: -111,
    syscall: "connect",
  });
  const outage = logged((log) =>
    log.warn(
      { err: new DomainError("database_unavailable", "The database is not reachable.", { cause }) },
      "a round failed",
    ),
  );
  expect(JSON.parse(outage)).toMatchObject({
    msg: "a round failed",
    err: {
      type: "DomainError",
      code: "database_unavailable",
      message: "The database is not reachable.",
      cause: { type: "Error", code: "ECONNREFUSED", message: "connect ECONNREFUSED 127.0.0.1:5432" },
    },
  });
  expect(outage).not.toContain("stack");
  const mistake = JSON.parse(
    logged((log) => log.error({ err: new TypeError("x is not a function") }, "a round failed")),
  ) as { err: object };
  expect(mistake.err).toMatchObject({
    type: "TypeError",
    stack: expect.stringMatching(/^ {4}at .*log\.test\.ts/),
  });
});
