/** Builds the guide with VitePress, in a folder of its own beside the place where the result goes. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rename, rm, stat, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { DOCS, ROOT } from "./built.ts";
import { finish } from "./finish.ts";
import { stage } from "./stage.ts";

const BUILD_MS = 5 * 60_000;
const MAX_OUTPUT = 10_000_000;
/** For how long the guide of other sources is kept, since a process that began with them may serve it. */
const KEEP_MS = 24 * 3_600_000;

/**
 * @param places where it may go; the first that can be written is taken
 * @returns the place that was taken
 * @throws Error with what VitePress said, such as which link is dead
 */
export async function buildGuide(places: readonly string[], stop: AbortSignal): Promise<string> {
  const { place, folder } = await scratchBeside(places);
  try {
    const pages = join(folder, "pages");
    const out = join(folder, "out");
    await stage(DOCS, pages);
    // The theme's imports are looked up from the pages upwards.
    await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
    // Vite writes into the nearest folder of this name, which must not be that of another user.
    await mkdir(join(pages, "node_modules"));
    await runVitePress(pages, out, stop);
    await finish(out);
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

/** Removes guides of sources that are no more, and what a build that was killed has left. */
async function removeOld(place: string): Promise<void> {
  for (const name of await readdir(dirname(place))) {
    const other = join(dirname(place), name);
    if (!name.startsWith("guide-") || other === place) continue;
    const { mtimeMs } = await stat(other);
    if (Date.now() - mtimeMs > KEEP_MS) await rm(other, { recursive: true, force: true });
  }
}

async function runVitePress(pages: string, out: string, stop: AbortSignal): Promise<void> {
  const entry = createRequire(join(DOCS, "package.json")).resolve("vitepress/package.json");
  const program = join(dirname(entry), "bin/vitepress.js");
  // oxlint-disable-next-line node/no-process-env -- the child inherits it; nothing is read from it here
  const env = { ...process.env, VITE_CONFIG_NATIVE_IGNORE_WARNING: "true", NO_COLOR: "1" };
  try {
    await promisify(execFile)(process.execPath, [program, "build", pages, "--outDir", out], {
      cwd: ROOT,
      env,
      signal: stop,
      timeout: BUILD_MS,
      maxBuffer: MAX_OUTPUT,
    });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`VitePress could not build the guide:\n${stdout}${stderr}`.trimEnd(), { cause: error });
  }
}
