import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/run/sequencer.ts";
import { notRunReporter } from "./test/support/run/not-run-reporter.ts";
import { unstableReporter } from "./test/support/run/unstable-reporter.ts";

const report = process.env["TEST_REPORT"];

/** What a file needs is the end of its name: `x.test.ts` needs no server and starts no process. */
const PROCESS = "test/**/*.process.test.ts";
const DATABASE = "test/**/*.database.test.ts";
const STACK = "test/**/*.stack.test.ts";
const OWN_STACK = "test/**/*.own-stack.test.ts";
const NIGHTLY = "test/**/*.nightly.test.ts";

const SET_UP = ["test/support/run/vitest-set-up.ts"];
/** For tests that wait for processes to start, to be missed and to be replaced: a busy machine takes long. */
const PROCESS_TIMEOUT_MS = 180_000;
/** A test that ended by one of these is tried once more in CI; one whose expectation failed never is. */
const TIMED_OUT = /timed out in \d+ ?ms|did not come true within|Timeout \d+ms exceeded/;

export default defineConfig({
  resolve: {
    // Workflows run in Temporal's sandbox alone, or with what this module gives them.
    alias: [
      {
        find: /^@temporalio\/workflow$/,
        replacement: join(import.meta.dirname, "test/support/workflows/virtual-workflow.ts"),
      },
      { find: "#timings", replacement: join(import.meta.dirname, "test/support/run/quick-timings.ts") },
      // As the console is built: from its sources, so that nothing has to be built before.
      {
        find: /^@holdfast\/client$/,
        replacement: join(import.meta.dirname, "clients/typescript/src/index.ts"),
      },
    ],
  },
  test: {
    pool: "forks",
    // Its heap is large, and it would be searched for garbage twice whenever a test waits for a server.
    execArgv: ["--no-memory-reducer", "--conditions=quick-timings"],
    // Files share what their worker process has imported and started.
    isolate: false,
    // More than there are cores: half of the files wait for processes of their own to start and to be missed.
    // A fourth would slow those down.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    retry: process.env["CI"] === "true" ? { count: 1, condition: TIMED_OUT } : 0,
    sequence: { sequencer: LongestFirst },
    reporters: [
      "default",
      unstableReporter(),
      notRunReporter(process.env["CI"] === "true"),
      ...(report === undefined ? [] : [["json", { outputFile: report }] as const]),
    ],
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, PROCESS, DATABASE, STACK, OWN_STACK, NIGHTLY],
        },
      },
      {
        extends: true,
        test: { name: "database", include: [DATABASE], globalSetup: SET_UP },
      },
      {
        extends: true,
        test: { name: "process", include: [PROCESS], testTimeout: PROCESS_TIMEOUT_MS, globalSetup: SET_UP },
      },
      {
        extends: true,
        test: {
          name: "stack",
          include: [STACK, OWN_STACK],
          testTimeout: PROCESS_TIMEOUT_MS,
          globalSetup: SET_UP,
        },
      },
      {
        extends: true,
        test: { name: "nightly", include: [NIGHTLY], testTimeout: PROCESS_TIMEOUT_MS, globalSetup: SET_UP },
      },
    ],
  },
});
