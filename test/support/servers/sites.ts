/** The sites that `npm start` builds in the background, built ahead for tests that must not wait for them. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const SCRIPTS = join(import.meta.dirname, "../../../scripts");
export const BUILD_MS = 240_000;

/** Builds the site where every start finds it, unless it is built. */
export async function buildSite(name: "console" | "guide"): Promise<void> {
  await promisify(execFile)(process.execPath, [join(SCRIPTS, name, "main.ts")], { timeout: BUILD_MS });
}
