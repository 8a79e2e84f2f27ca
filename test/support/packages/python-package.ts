/** Builds the package of clients/python, installs it in an empty environment, and runs programs there. */
import { execFile } from "node:child_process";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { pythonEnvironment } from "../clients/python-client.ts";

const ROOT = join(import.meta.dirname, "../../..");
const CHECKER = "mypy==2.4.1";
/** Long, because the first run on a machine installs the tools. */
const BUILD_MS = 5 * 60_000;
const RUN_MS = 120_000;
const run = promisify(execFile);

export interface PythonPackage {
  readonly wheel: string;
  readonly sdist: string;
  /** Runs a program with the package alone. @throws Error with what it printed. */
  run(program: string, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<string>;
  /** What `mypy --strict` says about programs that use the package; its lines of errors. */
  check(...programs: readonly string[]): Promise<string[]>;
}

/** @param folder an empty one. */
export async function installPythonPackage(cacheDir: string, folder: string): Promise<PythonPackage> {
  const dist = join(folder, "dist");
  const env = { ...process.env, HOLDFAST_TOOLS: cacheDir };
  await run("python3", [join(ROOT, "clients/python/build.py"), dist], { env, timeout: BUILD_MS });
  const files = await readdir(dist);
  const wheel = join(
    dist,
    files.find((file) => file.endsWith(".whl"))!,
  );
  const sdist = join(
    dist,
    files.find((file) => file.endsWith(".tar.gz"))!,
  );
  const python = join(folder, "venv/bin/python");
  await run("python3", ["-m", "venv", "--without-pip", join(folder, "venv")]);
  const quietly = ["--quiet", "--disable-pip-version-check", "--root-user-action=ignore"];
  await run("python3", ["-m", "pip", "--python", python, "install", ...quietly, wheel], {
    timeout: BUILD_MS,
  });
  const here = join(folder, "work");
  await mkdir(here);
  const plain = { PATH: process.env["PATH"], HOME: process.env["HOME"], PYTHONDONTWRITEBYTECODE: "1" };
  return {
    wheel,
    sdist,
    async run(program, args, more = {}) {
      const options = { cwd: here, env: { ...plain, ...more }, timeout: RUN_MS };
      return (await run(python, [program, ...args], options)).stdout;
    },
    async check(...programs) {
      const checker = await pythonEnvironment({ cacheDir, library: CHECKER });
      const args = ["--strict", "--no-error-summary", "--python-executable", python, ...programs];
      const answer = run("python3", ["-m", "mypy", ...args], { cwd: here, env: checker, timeout: RUN_MS });
      const { stdout } = await answer.catch((error: { code?: unknown; stdout?: string }) => {
        // 1 is that of programs with errors.
        if (error.code !== 1) throw error;
        return { stdout: error.stdout ?? "" };
      });
      return stdout.split("\n").filter((line) => line.includes(": error:"));
    },
  };
}

/** The files of a wheel or an sdist, each with a hash of its content. */
export async function filesOf(archive: string): Promise<ReadonlyMap<string, string>> {
  const { stdout } = await run("python3", [join(import.meta.dirname, "list_archive.py"), archive]);
  return new Map(Object.entries(JSON.parse(stdout) as Record<string, string>));
}
