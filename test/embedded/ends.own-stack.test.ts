/**
 * Ends `npm start` in every way: afterwards nothing of it runs or listens, and the next start continues with
 * the data.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { freePort, isListening } from "../../src/embedded/ports.ts";
import { BUILD_MS, buildSite } from "../support/servers/sites.ts";
import { runCli } from "../support/stack/processes.ts";
import { until } from "../support/until.ts";
import { UNLESS_LINUX } from "../support/run/unless.ts";

const ROOT = join(import.meta.dirname, "../..");
const WAIT_MS = 90_000;

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

interface Started {
  readonly npm: ChildProcess;
  readonly port: number;
  printed(): string;
}

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

async function isUp({ npm: child, printed }: Started): Promise<void> {
  await until(
    "it is up, or has ended",
    () => printed().includes("Holdfast is up") || child.exitCode !== null,
    WAIT_MS,
  );
  expect(printed()).toContain("Holdfast is up");
}

async function leavesNothing(port: number): Promise<void> {
  await expect.poll(running, { timeout: WAIT_MS }).toEqual([]);
  expect(await isListening(port)).toBe(false);
}

test(
  "the start itself is killed: what it began ends in order, and the next start has the data",
  UNLESS_LINUX,
  async () => {
    const first = await start();
    await isUp(first);
    expect((await recorded()).toSorted()).toEqual(["api", "postgres", "temporal", "worker"]);
    process.kill(await startPid(), "SIGKILL");
    await leavesNothing(first.port);
    expect(await readFile(join(dataDir, "logs/postgres.log"), "utf8")).toContain(
      "database system is shut down",
    );

    const second = await start();
    await isUp(second);
    expect(second.printed()).not.toContain("making the database");
    expect(second.printed()).not.toContain("left by an earlier start");
    // A shell without the PORT of the start is told its address all the same.
    const made = await runCli(
      ["organization", "create", "--name", "Acme", "--admin-email", "ada@acme.example"],
      { DATA_DIR: dataDir, NODE_ENV: "production" },
    );
    expect(made).toContain(`curl -sS http://127.0.0.1:${second.port}/v1/data/upload`);
    second.npm.kill("SIGTERM");
    expect(await once(second.npm, "exit")).toEqual([0, null]);
    expect(second.printed()).toContain("stopped");
    await leavesNothing(second.port);
  },
);

const ENDS: [string, (started: Started) => Promise<unknown>][] = [
  ["npm is killed", async ({ npm: child }) => child.kill("SIGKILL")],
  ["the terminal is closed", async ({ npm: child }) => process.kill(-child.pid!, "SIGHUP")],
  ["the start gets SIGTERM", async () => process.kill(await startPid(), "SIGTERM")],
  ["npm and the start are killed at once", async ({ npm: child }) => process.kill(-child.pid!, "SIGKILL")],
];

test.each(ENDS)("%s in the middle of a start", UNLESS_LINUX, async (_, end) => {
  const started = await start();
  await until(
    "servers run",
    async () => (await recorded()).length >= 2 && (await running()).length > 3,
    WAIT_MS,
  );
  await end(started);
  await leavesNothing(started.port);
});

test("a start with another master key than the database's ends as with wrong settings", async () => {
  const refused = await start({ MASTER_KEY: Buffer.alloc(32, 9).toString("base64") });
  await until("npm has ended", () => refused.npm.exitCode !== null, WAIT_MS);
  expect(refused.printed()).toContain("The master key is not this database's");
  expect(refused.npm.exitCode).toBe(78);
  await leavesNothing(refused.port);
});
