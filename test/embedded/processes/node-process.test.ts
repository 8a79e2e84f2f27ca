import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { PROJECT_ROOT, runProgram } from "../../../src/embedded/processes/node-process.ts";

test("a command may print as much as it likes, e.g. the list of ten thousand organizations", async () => {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-program-"));
  try {
    const program = join(folder, "long.mjs");
    await writeFile(program, 'process.stdout.write("x".repeat(2_000_000))');
    const printed = await runProgram([relative(PROJECT_ROOT, program)], {}, new AbortController().signal);
    expect(printed).toHaveLength(2_000_000);
  } finally {
    await rm(folder, { recursive: true });
  }
});
