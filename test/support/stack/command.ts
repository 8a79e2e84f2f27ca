/** Runs a command of the CLI within the test's own process: one of its own takes half a second to start. */
import { vi } from "vitest";
import { createProgram } from "../../../src/cli/program.ts";

/**
 * One at a time: settings and standard output are the process's.
 * @returns what it printed. @throws what the command throws.
 */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  let printed = "";
  const output = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  try {
    await createProgram().parseAsync(args, { from: "user" });
    return printed;
  } finally {
    vi.unstubAllEnvs();
    output.mockRestore();
  }
}
