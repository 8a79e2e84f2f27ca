/**
 * Installs Python packages by pip, once for each cache folder, and runs scripts with them: with the official
 * client and with a generated one.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { access, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const ROOT = join(import.meta.dirname, "../../..");
const CLIENT = "openai==3.54.0";
const INSTALL_MS = 5 * 60_000;
const RUN_MS = 60_000;
const run = promisify(execFile);

const NEEDED =
  "This test runs Python: it needs python3 (3.10 or newer) with pip, and a package index that has";

interface Packages {
  readonly cacheDir: string;
  /** The requirement as pip takes it, with its version; or several with spaces between them. */
  readonly library: string;
  /** A further folder of packages. */
  readonly path?: string;
}

/** Runs a script in `test/support` with the official client. @throws as {@link runPython} does. */
export async function runWithPythonClient(
  cacheDir: string,
  script: string,
  args: readonly string[],
): Promise<unknown> {
  return runPython({ cacheDir, library: CLIENT }, script, args);
}

/**
 * Runs a script in `test/support`, which prints one JSON value.
 * @throws Error that says what is missing, or with what the script printed.
 */
export async function runPython(
  packages: Packages,
  script: string,
  args: readonly string[],
): Promise<unknown> {
  const { stdout } = await run("python3", [join(import.meta.dirname, script), ...args], {
    env: await pythonEnvironment(packages),
    timeout: RUN_MS,
  });
  return JSON.parse(stdout);
}

/** Generates the package `holdfast_client` in `folder`. */
export async function generatePythonClient(cacheDir: string, library: string, folder: string): Promise<void> {
  const to = ["--meta", "none", "--output-path", join(folder, "holdfast_client")];
  const from = [
    "--path",
    join(ROOT, "docs/openapi.json"),
    "--config",
    join(ROOT, "clients/python/openapi-python-client.yml"),
  ];
  await run("python3", ["-m", "openapi_python_client", "generate", ...from, ...to], {
    env: await pythonEnvironment({ cacheDir, library }),
    timeout: RUN_MS,
  });
}

/** The settings with which Python finds the packages, which are installed if they are not there. */
export async function pythonEnvironment({ cacheDir, library, path }: Packages): Promise<NodeJS.ProcessEnv> {
  const name = library.replaceAll("==", "-").replaceAll(" ", "-");
  const packages = await installed({ cacheDir, name, shown: library, wanted: library.split(" ") });
  return {
    PATH: process.env["PATH"],
    HOME: process.env["HOME"],
    PYTHONPATH: path === undefined ? packages : `${path}${delimiter}${packages}`,
    PYTHONDONTWRITEBYTECODE: "1",
  };
}

/**
 * Installs the packages of a file of requirements that names all of them with their versions, so that pip has
 * nothing to choose. @returns the folder to import from.
 */
export async function installedRequirements(cacheDir: string, file: string): Promise<string> {
  const hash = createHash("sha256")
    .update(await readFile(file))
    .digest("hex")
    .slice(0, 16);
  return installed({ cacheDir, name: hash, shown: file, wanted: ["--no-deps", "--requirement", file] });
}

interface Wanted {
  readonly cacheDir: string;
  /** What the folder is called. */
  readonly name: string;
  /** What an error says was wanted. */
  readonly shown: string;
  /** What pip takes. */
  readonly wanted: readonly string[];
}

/** The installed Python's version, such as "3.11". @throws Error if there is none. */
async function pythonVersion(): Promise<string> {
  const { stdout } = await run("python3", ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"]);
  return stdout.trim();
}

/**
 * Returns a folder of packages for the installed Python. Compiled packages fit no other version of it, so
 * each version has a folder.
 */
async function installed({ cacheDir, name, shown, wanted }: Wanted): Promise<string> {
  const needed = `${NEEDED} ${shown}.`;
  const version = await pythonVersion().catch((error: unknown) => {
    throw new Error(needed, { cause: error });
  });
  const folder = join(cacheDir, `python-${version}-${name}`);
  const isThere = await access(folder).then(
    () => true,
    () => false,
  );
  if (isThere) return folder;
  const fresh = await mkdtemp(`${folder}-`);
  try {
    const options = [
      "--target",
      fresh,
      "--only-binary=:all:",
      "--no-compile",
      "--disable-pip-version-check",
      "--quiet",
    ];
    await run("python3", ["-m", "pip", "install", ...options, ...wanted], { timeout: INSTALL_MS });
    // Another test file may have installed it meanwhile.
    await rename(fresh, folder).catch(async (error: unknown) => {
      await access(folder).catch(() => Promise.reject(error));
      await rm(fresh, { recursive: true, force: true });
    });
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    throw new Error(needed, { cause: error });
  }
  return folder;
}
