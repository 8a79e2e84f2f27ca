/** Gets the official Python client by pip, once for a cache folder, and runs scripts with it. */
import { execFile } from "node:child_process";
import { access, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const CLIENT = "openai==3.54.0";
const INSTALL_MS = 5 * 60_000;
const RUN_MS = 60_000;
const run = promisify(execFile);

const NEEDED = "This test runs the official Python client: it needs python3 (3.10 or newer) with pip, and a package index that has the client.";

/** Runs a script in `test/support`, which prints one JSON value. @throws Error that says what is missing, or with what the script printed. */
export async function runWithPythonClient(cacheDir: string, script: string, args: readonly string[]): Promise<unknown> {
  const packages = await installedClient(cacheDir);
  const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: "1" };
  const { stdout } = await run("python3", [join(import.meta.dirname, script), ...args], { env, timeout: RUN_MS });
  return JSON.parse(stdout);
}

/** A folder of packages for the Python at hand: compiled ones fit no other version of it. */
async function installedClient(cacheDir: string): Promise<string> {
  const version = await run("python3", ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"]).catch((error: unknown) => {
    throw new Error(NEEDED, { cause: error });
  });
  const folder = join(cacheDir, `python-${version.stdout.trim()}-${CLIENT.replace("==", "-")}`);
  const isThere = await access(folder).then(
    () => true,
    () => false,
  );
  if (isThere) return folder;
  const fresh = await mkdtemp(`${folder}-`);
  try {
    const options = ["--target", fresh, "--only-binary=:all:", "--no-compile", "--disable-pip-version-check", "--quiet"];
    await run("python3", ["-m", "pip", "install", ...options, CLIENT], { timeout: INSTALL_MS });
    await rename(fresh, folder);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    throw new Error(NEEDED, { cause: error });
  }
  return folder;
}
