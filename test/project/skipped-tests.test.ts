/** A skipped test gives its reason, so that nobody counts it as passed. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { notRunReporter } from "../support/run/not-run-reporter.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Tests of the machine itself, which are pointless elsewhere. */
const ALLOWED = ['test/image/image.nightly.test.ts: test.runIf(process.env["CI"] === "true")'];

test("conditions are written as `unless`, with their reason", () => {
  const found = globSync("test/**/*.ts", { cwd: ROOT })
    .filter((path) => path !== "test/project/skipped-tests.test.ts")
    .flatMap((path) =>
      [...readFileSync(join(ROOT, path), "utf8").matchAll(/\w+\.(?:runIf|skipIf|skip|todo)\([^)]*\)/g)]
        .filter(([call]) => !call.startsWith("context."))
        .map(([call]) => `${path}: ${call}`),
    );
  expect(found).toEqual(ALLOWED);
});

const MODULE = { type: "module", relativeModuleId: "test/x.test.ts", meta: () => ({}), fullName: "" };
const suite = {
  type: "suite",
  fullName: "on S3",
  meta: () => ({ notRun: "there is no S3" }),
  parent: MODULE,
};
const skipped = (parent: object, name: string, note?: string) => ({
  type: "test",
  fullName: name,
  module: MODULE,
  parent,
  meta: () => ({}),
  result: () => ({ state: "skipped", note }),
});

function linesOf(tests: readonly object[], isComplete: boolean): string[] {
  const lines: string[] = [];
  const reporter = notRunReporter(isComplete, (line) => lines.push(line));
  const run = [{ ...MODULE, children: { allTests: () => tests } }] as never;
  void reporter.onTestRunEnd?.(run, [], "passed");
  return lines;
}

test("a suite that was skipped is one line, whatever it holds", () => {
  const tests = [skipped(suite, "on S3 > puts"), skipped(suite, "on S3 > gets")];
  expect(linesOf(tests, true)).toEqual(["not run here: test/x.test.ts > on S3: there is no S3"]);
});

test("a note is a reason; without one a test is named in complete runs only", () => {
  const tests = [skipped(MODULE, "a", "no root"), skipped(MODULE, "b")];
  expect(linesOf(tests, true)).toEqual([
    "not run here: test/x.test.ts > a: no root",
    "not run here: test/x.test.ts > b: skipped without a reason",
  ]);
  expect(linesOf(tests, false)).toEqual(["not run here: test/x.test.ts > a: no root"]);
});
