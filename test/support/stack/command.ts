/**
 * Runs a command of the CLI inside the test's process, because a process of its own takes half a second to
 * start.
 */
import { vi } from "vitest";
import { createProgram } from "../../../src/cli/program.ts";

/**
 * Runs one command at a time, since settings and standard output belong to the process.
 * @returns what the command printed.
 * @throws what the command throws.
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
    const program = await createProgram(args[0]);
    await program.parseAsync(args, { from: "user" });
    return printed;
  } finally {
    vi.unstubAllEnvs();
    output.mockRestore();
  }
}
