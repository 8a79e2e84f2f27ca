/** What the linter asks of tests and benches, so that no assertion is skipped, empty or missing. */

/** What fails a test if what it compares or waits for is not so. */
const ASSERTIONS = ["expect", "expect*", "until", "refused", "fc.assert", "**.waitFor"];

export const testRules = {
  files: ["test/**", "bench/**", "vitest.config.ts"],
  rules: {
    "max-lines-per-function": "off",
    "max-params": "off",
    "typescript/no-explicit-any": "off",
    "node/no-process-env": "off",
    "typescript/unbound-method": "off",
    "vitest/expect-expect": ["error", { assertFunctionNames: ASSERTIONS }],
    "vitest/no-alias-methods": "error",
    "vitest/no-commented-out-tests": "error",
    "vitest/no-duplicate-hooks": "error",
    "vitest/no-identical-title": "error",
    "vitest/no-test-prefixes": "error",
    "vitest/no-test-return-statement": "error",
    "vitest/no-unneeded-async-expect-function": "error",
    "vitest/prefer-to-be": "error",
    "vitest/prefer-to-contain": "error",
    "vitest/prefer-to-have-length": "error",
    // The second argument is the message of a failure.
    "vitest/valid-expect": ["error", { maxArgs: 2 }],
  },
} as const;
