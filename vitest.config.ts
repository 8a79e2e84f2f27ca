import { defineConfig } from "vitest/config";
import { unstableReporter } from "./test/support/unstable-reporter.ts";

const report = process.env["TEST_REPORT"];

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    pool: "forks",
    // They wait more than they compute: three keep two cores busy.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    retry: process.env["CI"] === "true" ? 1 : 0,
    reporters: ["default", unstableReporter(), ...(report === undefined ? [] : [["json", { outputFile: report }] as const])],
  },
});
