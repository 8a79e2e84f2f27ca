#!/usr/bin/env node
/** `holdfast`: the commands of operators. */
import { describeFailure } from "../expected-failure.ts";
import { createProgram } from "./program.ts";

try {
  await createProgram().parseAsync();
} catch (error) {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`${describeFailure(error) ?? stack}\n`);
  process.exitCode = 1;
}
