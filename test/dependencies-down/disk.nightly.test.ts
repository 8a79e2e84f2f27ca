/**
 * When a disk fills up, writes that need more room are refused or wait, everything else goes on, and no
 * restart is needed afterwards.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { freePort } from "../../src/embedded/ports.ts";
import { call, ended, fileForm, upload } from "../support/clients/client.ts";
import { type Stack, startStack } from "../support/stack/stack.ts";
import { AGENTS, KEYS, SPACES } from "../support/tenants/tenants.ts";
import { until } from "../support/until.ts";
import { unless } from "../support/run/unless.ts";

const ROOT = join(import.meta.dirname, "../..");
const MIB = 1024 * 1024;
const FLOOR = 4 * MIB;

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

/** Says why the tests cannot run; a small file system needs a mount namespace of its own. */
function whyNot(): string | undefined {
  if (process.platform !== "linux") return "only Linux has mount namespaces";
  try {
    execFileSync("unshare", ["-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], {
      stdio: "ignore",
      timeout: 10_000,
    });
    return undefined;
  } catch {
    return "this user may not mount in a namespace of its own (root may)";
  }
}

const reason = whyNot();

let stack: Stack;
let folder: string;
let processes: ChildProcess | undefined;
let url: string;
let metricsPort: number;

/** The path of the small file system as this process sees it. */
const inside = (path: string): string => `/proc/${processes?.pid}/root${folder}/${path}`;

beforeAll(async () => {
  if (reason !== undefined) return;
  folder = await mkdtemp(join(tmpdir(), "holdfast-disk-"));
  stack = await startStack({
    withoutWorker: true,
    env: { DATA_DIR: folder, MIN_FREE_DISK_BYTES: String(FLOOR) },
  });
  await stack.api.kill("SIGKILL");
  const [port, workerMetrics] = [await freePort(), await freePort()];
  [url, metricsPort] = [`http://127.0.0.1:${port}`, await freePort()];
  const script = [
    'mount -t tmpfs -o size=64m,mode=0711 tmpfs "$DATA_DIR" && mkdir "$DATA_DIR/logs" || exit',
    `METRICS_PORT=${workerMetrics} "$0" src/worker/main.ts >"$DATA_DIR/logs/worker.log" 2>&1 &`,
    `METRICS_PORT=${metricsPort} exec "$0" src/api/main.ts >"$DATA_DIR/logs/api.log" 2>&1`,
  ].join("\n");
  const env = { ...stack.env, PORT: String(port), PATH: process.env["PATH"], HOME: process.env["HOME"] };
  processes = spawn("unshare", ["-m", "sh", "-c", script, process.execPath], {
    cwd: ROOT,
    env,
    detached: true,
    stdio: "ignore",
  });
  await until(
    "the API answers",
    async () => (await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(2_000) })).ok,
    60_000,
  );
});
afterAll(async () => {
  if (processes?.pid !== undefined && processes.exitCode === null) {
    const gone = once(processes, "exit");
    process.kill(-processes.pid, "SIGKILL");
    await gone;
  }
  if (reason !== undefined) return;
  await stack.close();
  await rm(folder, { recursive: true, force: true });
});

/** Fills the file system until about `bytes` are free. */
function leaveFree(bytes: number): void {
  const free = Number(execFileSync("stat", ["-f", "-c", "%a", inside("")], { encoding: "utf8" })) * 4096;
  execFileSync("sh", ["-c", `head -c ${free - bytes} /dev/zero >>"$0" || true`, inside("filler")], {
    stdio: "ignore",
  });
}

async function metric(name: string): Promise<number> {
  const text = await (
    await fetch(`http://127.0.0.1:${metricsPort}/metrics`, { signal: AbortSignal.timeout(5_000) })
  ).text();
  return Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      ?.split(" ")
      .at(-1),
  );
}

const tryUpload = (text: string) =>
  call(url, KEYS.editor, "POST", "/data/upload", fileForm(text, "note.md", { space_id: SPACES.research }));
const search = () =>
  call(url, KEYS.editor, "POST", "/data/hybrid-search", { query: "lighthouse", space_id: SPACES.research });
const chat = () =>
  call(url, KEYS.editor, "POST", "/chat/completions", {
    model: AGENTS.analyst,
    messages: [{ role: "user", content: "Where is the lighthouse?" }],
  });

async function isServing(): Promise<void> {
  expect((await search()).body.total_results).toBeGreaterThan(0);
  expect((await chat()).status).toBe(200);
}

afterEach(async () => {
  if (reason === undefined) await writeFile(inside("filler"), "");
});

test(
  "below the floor uploads are refused and documents wait; searches and chat go on; both heal",
  unless(reason),
  async () => {
    const { id } = await upload(
      url,
      KEYS.editor,
      SPACES.research,
      "The lighthouse stands on the western pier.",
    );
    await ended(url, KEYS.editor, id);
    await until("chat is ready", async () => (await chat()).status === 200);
    expect(await metric("holdfast_disk_floor_bytes")).toBe(FLOOR);

    leaveFree(FLOOR / 2);
    const refused = await until("an upload is refused", async () => {
      const answer = await tryUpload("more");
      return answer.status === 507 && answer;
    });
    expect(refused.body).toMatchObject({ detail: expect.stringContaining("too little free disk space") });
    expect(refused.headers.get("retry-after")).toBe("5");
    expect(await metric("holdfast_disk_free_bytes")).toBeLessThan(FLOOR);
    const ready = await fetch(`${url}/health/ready`);
    expect(ready.status).toBe(200);
    expect(await ready.json()).toMatchObject({
      status: "degraded",
      dependencies: expect.arrayContaining([expect.objectContaining({ name: "disk", ok: false })]),
    });
    await isServing();

    expect((await call(url, KEYS.editor, "POST", `/data/${id}/reprocess`, {})).status).toBe(202);
    await until(
      "the document waits",
      async () => {
        const { body } = await call(url, KEYS.editor, "GET", `/data/${id}`);
        return JSON.stringify(body).includes('"insufficient_storage"');
      },
      90_000,
    );
    await truncate(inside("filler"), 0);
    expect((await ended(url, KEYS.editor, id)).processing_state.pipeline_status).toBe("completed");
    expect((await tryUpload("more")).status).toBe(201);
  },
);

test(
  "with no byte left the API serves, drops lines of its log, counts them, and logs again once there is room",
  unless(reason),
  async () => {
    const pid = processes?.pid;
    await writeFile(inside("filler"), "");
    execFileSync("sh", ["-c", 'cat /dev/zero >>"$0" || true', inside("filler")], { stdio: "ignore" });
    await until("lines are dropped", async () => {
      await Promise.all(
        Array.from({ length: 50 }, () => call(url, KEYS.editor, "GET", `/spaces/${SPACES.research}`)),
      );
      return (await metric("holdfast_log_lines_dropped_total")) > 0;
    });
    await isServing();
    expect((await tryUpload("more")).status).toBe(507);

    await rm(inside("filler"));
    const { size } = await stat(inside("logs/api.log"));
    await until("the log goes on", async () => {
      await search();
      return (await stat(inside("logs/api.log"))).size > size;
    });
    await until("uploads are taken", async () => (await tryUpload("after the end")).status === 201);
    expect([processes?.pid, processes?.exitCode]).toEqual([pid, null]);
  },
);
