/**
 * Lists the tests that passed only at the second try: the retry keeps one race from stopping a change, but
 * must not hide it.
 */
import type { Reporter, TestCase } from "vitest/node";

/** What its first try failed with: a line of it. */
function firstError(test: TestCase): string {
  const [error] = test.result().errors ?? [];
  return error?.message.split("\n", 1)[0] ?? "it left no error";
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
