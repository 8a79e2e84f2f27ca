/**
 * `npm run alerts`: tries every alert on recorded series with Prometheus's own `promtool`: that of PATH, else of Debian's package, which
 * is unpacked into a temporary folder and installed nowhere. Exits with 1 where an alert fails, and with 2 where nothing could be run.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const FOLDER = join(import.meta.dirname, "../../deploy/prometheus");
const FETCH_TIMEOUT_MS = 180_000;
const RUN_TIMEOUT_MS = 120_000;
const run = promisify(execFile);

async function main(): Promise<number> {
  const scratch = await mkdtemp(join(tmpdir(), "holdfast-alerts-"));
  try {
    const promtool = (await isThere("promtool")) ? "promtool" : await unpacked(scratch);
    await runShown(promtool, ["check", "rules", "holdfast.rules.yml"]);
    await runShown(promtool, ["test", "rules", "holdfast.rules.test.yml"]);
    return 0;
  } catch (error) {
    const didRun = error instanceof RuleError;
    process.stderr.write(`${didRun ? "" : "the alerts were not tried: "}${error instanceof Error ? error.message : String(error)}\n`);
    return didRun ? 1 : 2;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

class RuleError extends Error {}

async function isThere(program: string): Promise<boolean> {
  return run(program, ["--version"], { timeout: RUN_TIMEOUT_MS }).then(
    () => true,
    () => false,
  );
}

/** @throws Error that says what is missing. */
async function unpacked(folder: string): Promise<string> {
  const wayOut = "install Prometheus's promtool (Debian and Ubuntu: apt-get install prometheus)";
  if (process.getuid?.() !== 0 || !(await isThere("dpkg"))) throw new Error(`there is no promtool: ${wayOut}`);
  const fetched = run("apt-get", ["-o", "APT::Sandbox::User=root", "download", "--quiet", "prometheus"], { cwd: folder, timeout: FETCH_TIMEOUT_MS });
  await fetched.catch(async () => {
    // The lists of packages are older than the packages, or were never fetched.
    await run("apt-get", ["update", "--quiet"], { timeout: FETCH_TIMEOUT_MS });
    await run("apt-get", ["-o", "APT::Sandbox::User=root", "download", "--quiet", "prometheus"], { cwd: folder, timeout: FETCH_TIMEOUT_MS });
  });
  const file = (await readdir(folder)).find((name) => name.endsWith(".deb"));
  if (file === undefined) throw new Error(`apt-get brought no package: ${wayOut}`);
  await run("dpkg", ["-x", join(folder, file), folder], { timeout: FETCH_TIMEOUT_MS });
  return join(folder, "usr/bin/promtool");
}

async function runShown(promtool: string, args: readonly string[]): Promise<void> {
  const child = spawn(promtool, args, { cwd: FOLDER, stdio: "inherit", timeout: RUN_TIMEOUT_MS });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new RuleError(`promtool ${args.join(" ")} ended with ${code}`);
}

process.exitCode = await main();
