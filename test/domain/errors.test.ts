/** The documentation's table of error classes matches the code. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ERROR_CLASSES } from "../../src/domain/errors.ts";

test.each(Object.entries(ERROR_CLASSES))(
  "docs/operations.md says what is done about %s",
  (name, { retriedFor, callerSees }) => {
    const text = readFileSync(join(import.meta.dirname, "../../docs/operations.md"), "utf8");
    expect(text).toContain(`| ${name} | ${retriedFor} | ${callerSees} |`);
  },
);
