/**
 * Lists the tests that passed only at the second try: the retry keeps one race from stopping a change, but
 * must not hide it.
 */
import { stripVTControlCharacters } from "node:util";
import type { Reporter, TestCase } from "vitest/node";

const DIFF_LINES = 12;

/** What its first try failed with: a line of it, and the lines in which a comparison differs. */
function firstError(test: TestCase): string {
  const [error] = test.result().errors ?? [];
  if (error === undefined) return "it left no error";
  const differing = stripVTControlCharacters(error.diff ?? "")
    .split("\n")
    .filter((line) => /^[-+] (?!Expected$|Received$)/.test(line))
    .slice(0, DIFF_LINES);
  return [error.message.split("\n", 1)[0], ...differing].join("\n  ");
}

export function unstableReporter(
  say: (line: string) => void = (line) => void process.stdout.write(`${line}\n`),
): Reporter {
  const unstable: TestCase[] = [];
  return {
    onTestCaseResult(test) {
      if (test.diagnostic()?.flaky === true) unstable.push(test);
    },
    onTestRunEnd() {
      for (const test of unstable)
        say(
          `unstable, find out why: ${test.module.relativeModuleId} > ${test.fullName}: ${firstError(test)}`,
        );
    },
  };
}
