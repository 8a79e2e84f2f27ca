/** The measuring of the cost test finds what it should. */
import { expect, test } from "vitest";
import { findingsOf, IN_TESTS } from "./measure.ts";

test("what is bad on purpose is found, and nothing else", { timeout: 600_000 }, async () => {
  const findings = await findingsOf("seeded", {
    ...IN_TESTS,
    lengths: [...IN_TESTS.lengths, 65_536],
    telling: 10,
    deadlineMs: 6_000,
  });
  expect(findings).toEqual([
    expect.stringMatching(/^quadratic on .*: grows [34]\.\d times per doubling/),
    expect.stringMatching(/^endless on .*: hangs/),
    expect.stringMatching(/^without a code on .*: ends without a code: SyntaxError/),
    expect.stringMatching(/^many times its input on .*: makes too much/),
    expect.stringMatching(/^of too much memory on .*: (?:ends its thread|hangs)/),
  ]);
});
