/** Builds a site in a folder of its own beside the place where the result goes. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../src/api/site/place.ts";

const BUILD_MS = 5 * 60_000;
const MAX_OUTPUT = 10_000_000;
/** For how long the site of other sources is kept, since a process that began with them may serve it. */
const KEEP_MS = 24 * 3_600_000;

/**
 * @param places where it may go; the first that can be written is taken
 * @param build writes the site into the empty folder `out`, with its listing; `scratch` is removed afterwards
 * @returns the place that was taken
 */
export async function buildInto(
  places: readonly string[],
  build: (folders: { readonly scratch: string; readonly out: string }) => Promise<void>,
): Promise<string> {
  const { place, folder } = await scratchBeside(places);
  try {
    const out = join(folder, "out");
    await build({ scratch: folder, out });
    await rm(place, { recursive: true, force: true });
    await rename(out, place).catch(async (error: unknown) => {
      // Another process built the same meanwhile.
      if (!(error instanceof Error && "code" in error && error.code === "ENOTEMPTY")) throw error;
    });
    await removeOld(place);
    return place;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Takes the first place whose folder can be written. */
async function scratchBeside(places: readonly string[]): Promise<{ place: string; folder: string }> {
  let refused: unknown;
  for (const place of places) {
    try {
      await mkdir(dirname(place), { recursive: true });
      return { place, folder: await mkdtemp(`${place}.`) };
    } catch (error) {
      refused = error;
    }
  }
  throw refused;
}

/** Removes sites of sources that are no more, and what a build that was killed has left. */
async function removeOld(place: string): Promise<void> {
  const [name = ""] = basename(place).split("-");
  for (const other of await readdir(dirname(place))) {
    const path = join(dirname(place), other);
    if (!other.startsWith(`${name}-`) || path === place) continue;
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > KEEP_MS) await rm(path, { recursive: true, force: true });
  }
}

/** Runs a program of a package with Node. @throws Error with what it said */
export async function runBuilder(
  what: string,
  args: readonly string[],
  { cwd = ROOT, stop }: { readonly cwd?: string; readonly stop: AbortSignal },
): Promise<void> {
  const env = {
    // oxlint-disable-next-line node/no-process-env -- the child inherits it; nothing is read from it here
    ...process.env,
    // Whatever the mode of this process, visitors get what is made for them, and not what helps developers.
    NODE_ENV: "production",
    VITE_CONFIG_NATIVE_IGNORE_WARNING: "true",
    NO_COLOR: "1",
  };
  try {
    await promisify(execFile)(process.execPath, args, {
      cwd,
      env,
      signal: stop,
      timeout: BUILD_MS,
      maxBuffer: MAX_OUTPUT,
    });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${what} could not be built:\n${stdout}${stderr}`.trimEnd(), { cause: error });
  }
}
