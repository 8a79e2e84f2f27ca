/**
 * Finds programs that a trial needs and the project does not ship: in PATH, or in Debian's packages, which
 * are unpacked into a folder of the trial.
 */
import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, readdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const DOWNLOAD_MS = 120_000;
const LIBRARIES = ["usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu"];
const PLACES = ["usr/bin", "usr/sbin"];

export interface Program {
  readonly path: string;
  /** Additional environment variables. */
  readonly env: Readonly<Record<string, string>>;
}

interface Wanted {
  readonly name: string;
  /** The Debian packages of the program and of libraries that a small image lacks. */
  readonly packages: readonly string[];
}

/**
 * Finds a program, or unpacks it into `folder` without installing anything.
 * @throws Error that says how to install it if neither is possible.
 */
export async function debianProgram({ name, packages }: Wanted, folder: string): Promise<Program> {
  const found = await firstOf(
    [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"].map((place) => join(place, name)),
  );
  if (found !== undefined) return { path: found, env: {} };
  try {
    await download(packages, folder);
    for (const file of (await readdir(folder)).filter((one) => one.endsWith(".deb")))
      await run("dpkg-deb", ["-x", join(folder, file), folder]);
  } catch (error) {
    throw new Error(
      `${name} is not in PATH, and cannot be fetched as a package of Debian: install it (${packages[0]}).`,
      { cause: error },
    );
  }
  const unpacked = await firstOf(PLACES.map((place) => join(folder, place, name)));
  if (unpacked === undefined) throw new Error(`Debian's package ${packages[0]} has no ${name}.`);
  return {
    path: unpacked,
    env: { LD_LIBRARY_PATH: LIBRARIES.map((place) => join(folder, place)).join(delimiter) },
  };
}

/** Downloads the packages, after a refresh of Debian's package lists on a machine that has none. */
async function download(packages: readonly string[], folder: string): Promise<void> {
  const get = () =>
    run("apt-get", ["-o", "APT::Sandbox::User=root", "download", "-qq", ...packages], {
      cwd: folder,
      timeout: DOWNLOAD_MS,
    });
  await get().catch(async () => {
    await run("apt-get", ["update", "-qq"], { timeout: DOWNLOAD_MS });
    await get();
  });
}

async function firstOf(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}
