#!/usr/bin/env node
/** `holdfast`: the commands of operators. */
import { describeFailure } from "../domain/expected-failure.ts";
import { createProgram } from "./program.ts";

/**
 * After this time the process ends, although a call that the command gave up on may still be open; a running
 * clean-up gets this long.
 */
const LONGEST_REST_MS = 5_000;

try {
  await createProgram().parseAsync();
} catch (error) {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`${describeFailure(error) ?? stack}\n`);
  process.exitCode = 1;
}
setTimeout(() => process.exit(), LONGEST_REST_MS).unref();
