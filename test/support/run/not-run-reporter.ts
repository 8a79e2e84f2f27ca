/** Ends a run with a line for each test that this machine could not run: what is left out has not passed. */
import type { Reporter, TestCase, TestModule, TestSuite } from "vitest/node";
import type {} from "./unless.ts";

/**
 * @param isComplete also lists tests that were skipped without a reason; `-t` skips most of a run.
 */
export function notRunReporter(
  isComplete: boolean,
  say: (line: string) => void = (line) => void process.stdout.write(`${line}\n`),
): Reporter {
  return {
    onTestRunEnd(modules) {
      const lines = modules.flatMap((module) =>
        [...module.children.allTests("skipped")].map((test) => lineOf(test, isComplete)),
      );
      for (const line of new Set(lines)) if (line !== undefined) say(line);
    },
  };
}

function lineOf(test: TestCase, isComplete: boolean): string | undefined {
  const { note } = test.result() as { readonly note?: string };
  let named: TestCase | TestSuite | TestModule = test;
  while (named.meta().notRun === undefined && named.type !== "module") named = named.parent;
  const reason = named.meta().notRun ?? note ?? (isComplete ? "skipped without a reason" : undefined);
  if (reason === undefined) return undefined;
  const name = named.type === "module" ? test.fullName : named.fullName;
  return `not run here: ${test.module.relativeModuleId} > ${name}: ${reason}`;
}
