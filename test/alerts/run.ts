/**
 * `npm run alerts`: tries every alert on recorded series with Prometheus's own `promtool`. It is taken from
 * PATH or from Debian's package, which is unpacked into a temporary folder. Exits with 1 if an alert fails,
 * and with 2 if `promtool` could not be run.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { debianProgram } from "../support/servers/debian-program.ts";

const FOLDER = join(import.meta.dirname, "../../deploy/prometheus");
const RUN_TIMEOUT_MS = 120_000;

async function main(): Promise<number> {
  const scratch = await mkdtemp(join(tmpdir(), "holdfast-alerts-"));
  try {
    const { path: promtool } = await debianProgram({ name: "promtool", packages: ["prometheus"] }, scratch);
    await runShown(promtool, ["check", "rules", "holdfast.rules.yml"]);
    await runShown(promtool, ["test", "rules", "holdfast.rules.test.yml"]);
    return 0;
  } catch (error) {
    const didRun = error instanceof RuleError;
    process.stderr.write(
      `${didRun ? "" : "the alerts were not tried: "}` +
        `${error instanceof Error ? error.message : String(error)}\n`,
    );
    return didRun ? 1 : 2;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

class RuleError extends Error {}

async function runShown(promtool: string, args: readonly string[]): Promise<void> {
  const child = spawn(promtool, args, { cwd: FOLDER, stdio: "inherit", timeout: RUN_TIMEOUT_MS });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new RuleError(`promtool ${args.join(" ")} ended with ${code}`);
}

process.exitCode = await main();
