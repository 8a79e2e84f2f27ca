import { expect, test } from "vitest";
import { type Check, ok, runChecks } from "../../../src/cli/doctor/check.ts";
import { nodeCheck, ocrCheck } from "../../../src/cli/doctor/host.ts";
import { clock } from "../../../src/cli/doctor/postgres.ts";
import { checkSettings } from "../../../src/cli/doctor/settings.ts";
import { loadConfig } from "../../../src/config/config.ts";

const check = (name: string, run: Check["run"], more: Partial<Check> = {}): Check => ({
  name,
  remedy: `mend ${name}`,
  run,
  ...more,
});

test("what hangs or throws is a finding, and the others are printed in their order", async () => {
  const results = await runChecks([
    check("hangs", () => new Promise(() => undefined), { timeoutMs: 20 }),
    check("throws", () =>
      Promise.reject(new Error("outer", { cause: new Error("postgres://ada:hunter2@db/x") })),
    ),
    check("is fine", async () => ok("seen")),
  ]);
  expect(results).toEqual([
    { name: "hangs", state: "fail", seen: "no answer within 0.02 s", remedy: "mend hangs" },
    { name: "throws", state: "fail", seen: "outer: postgres://ada:[redacted]@db/x", remedy: "mend throws" },
    { name: "is fine", state: "ok", seen: "seen" },
  ]);
});

test("a check does not repeat the reason of another, and keeps its own findings", async () => {
  const down = check("server", () => Promise.reject(new Error("gone")));
  const results = await runChecks([
    check("leans", () => Promise.reject(new Error("gone")), { needs: "server" }),
    down,
    check("knows", async () => ({ state: "fail", seen: "its own" }), { needs: "server" }),
  ]);
  expect(results.map(({ state, seen }) => [state, seen])).toEqual([
    ["warn", "skipped: server fails"],
    ["fail", "gone"],
    ["fail", "its own"],
  ]);
});

test("a clock may differ by five seconds", () => {
  expect([clock(4.9, "x"), clock(-5.1, "x")].map(({ state, seen }) => [state, seen])).toEqual([
    ["ok", "4.9 s ahead of this machine"],
    ["warn", "5.1 s behind this machine"],
  ]);
});

test("Node before 24 fails", async () => {
  expect(await runChecks([nodeCheck("20.19.4"), nodeCheck("24.0.0")])).toMatchObject([
    { state: "fail", seen: "20.19.4 is older than 24" },
    { state: "ok" },
  ]);
});

test("a language without data is named with the package that brings it", async () => {
  const [found] = await runChecks([ocrCheck(loadConfig({ OCR_LANGUAGES: "eng+xyz" }))]);
  expect(found).toMatchObject({
    state: "fail",
    seen: "there is none for xyz",
    remedy: expect.stringContaining("npm install @tesseract.js-data/xyz"),
  });
});

test("each unusable setting is one line, without its value; unknown settings are a warning", () => {
  const { config, findings } = checkSettings({ PORT: "secret-port", MASTER_KEY: "secret-key" }, () => [
    "RATE_LIMT_RPM is no setting",
  ]);
  expect(config).toBeUndefined();
  expect(findings.map(({ state, seen }) => [state, seen.split(" ")[0]])).toEqual([
    ["fail", "PORT"],
    ["fail", "MASTER_KEY"],
    ["warn", "RATE_LIMT_RPM"],
  ]);
  expect(JSON.stringify(findings)).not.toContain("secret");
});
