/** Runs `npm start` for tests, with a data folder of its own, and looks for what is left of it. */
import { type ChildProcess, spawn } from "node:child_process";
import { chmod, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { freePort, isListening } from "../../../src/embedded/ports.ts";
import { BUILD_MS, buildSite } from "../servers/sites.ts";
import { until } from "../until.ts";

const ROOT = join(import.meta.dirname, "../../..");
/** Generous, for a machine that is busy with other tests. */
export const WAIT_MS = 90_000;

export interface Started {
  readonly npm: ChildProcess;
  readonly port: number;
  printed(): string;
}

/**
 * Gives a test file starts that share a data folder, which is removed after the file, when nothing runs any
 * more. Call it once, at the top.
 */
export function npmStarts() {
  vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });
  let root: string;
  let dataDir: string;
  let npm: ChildProcess | undefined;
  beforeAll(async () => {
    await Promise.all([buildSite("console"), buildSite("guide")]);
    root = await mkdtemp(join(tmpdir(), "holdfast-ends-"));
    // As root, Postgres runs as another user, who must reach the folder.
    await chmod(root, 0o711);
    dataDir = join(root, "data");
  }, BUILD_MS);
  afterAll(async () => {
    if (npm?.pid !== undefined && npm.exitCode === null && npm.signalCode === null)
      process.kill(-npm.pid, "SIGKILL");
    await until("nothing of it runs", async () => (await running()).length === 0, WAIT_MS);
    await rm(root, { recursive: true, force: true });
  });

  /** Starts in its own session, as a terminal does, and in production, because that loads no demo. */
  async function start(extra: Record<string, string> = {}): Promise<Started> {
    const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
    const port = await freePort();
    const env = {
      PATH,
      HOME,
      NODE_COMPILE_CACHE,
      NODE_ENV: "production",
      DATA_DIR: dataDir,
      PORT: String(port),
      HOLDFAST_CACHE: process.env["HOLDFAST_TEST_CACHE_DIR"],
      ...extra,
    };
    const child = spawn("npm", ["start"], {
      cwd: ROOT,
      env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    npm = child;
    let printed = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        printed += chunk.toString();
      });
    return { npm: child, port, printed: () => printed };
  }

  /**
   * Lists the command lines of all processes that name the data folder, or have it in their environment.
   */
  async function running(): Promise<string[]> {
    const found: string[] = [];
    for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
      const [line, environment] = await Promise.all(
        ["cmdline", "environ"].map((file) => readFile(`/proc/${pid}/${file}`, "latin1").catch(() => "")),
      );
      if (`${line}${environment}`.includes(dataDir)) found.push(`${pid} ${line?.replaceAll("\0", " ")}`);
    }
    return found;
  }

  async function recorded(): Promise<string[]> {
    const text = await readFile(join(dataDir, "processes.json"), "utf8").catch(() => "[]");
    return (JSON.parse(text) as { name: string }[]).map(({ name }) => name);
  }

  /** The id of the process that npm started. */
  async function startPid(): Promise<number> {
    return (JSON.parse(await readFile(join(dataDir, "holdfast.pid"), "utf8")) as { pid: number }).pid;
  }

  async function leavesNothing(port: number): Promise<void> {
    await expect.poll(running, { timeout: WAIT_MS }).toEqual([]);
    expect(await isListening(port)).toBe(false);
  }

  return { start, running, recorded, startPid, leavesNothing, dataDir: () => dataDir };
}

/** Waits until everything runs. */
export async function isUp({ npm: child, printed }: Started): Promise<void> {
  await until(
    "it is up, or has ended",
    () => printed().includes("Holdfast is up") || child.exitCode !== null,
    WAIT_MS,
  );
  expect(printed()).toContain("Holdfast is up");
}
