#!/usr/bin/env node
/** `holdfast`: the commands of operators. */
import { describeFailure } from "../domain/expected-failure.ts";
import { createProgram } from "./program.ts";

/** What a command gave up on, as a store that does not answer, may hold the process for minutes; a clean-up that is under way gets so long. */
const LONGEST_REST_MS = 5_000;

try {
  await createProgram().parseAsync();
} catch (error) {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`${describeFailure(error) ?? stack}\n`);
  process.exitCode = 1;
}
setTimeout(() => process.exit(), LONGEST_REST_MS).unref();
