#!/usr/bin/env node
/** `holdfast`: the commands of operators. */
import { describeFailure } from "../domain/expected-failure.ts";
import { createProgram } from "./program.ts";

/** After this time the process ends, even if a call is still open; a running clean-up gets as long. */
const LONGEST_REST_MS = 5_000;

try {
  const program = await createProgram(process.argv[2]);
  await program.parseAsync();
} catch (error) {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`${describeFailure(error) ?? stack}\n`);
  process.exitCode = 1;
}
setTimeout(() => process.exit(), LONGEST_REST_MS).unref();
