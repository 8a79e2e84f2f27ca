import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { type Server, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { tryLock } from "../../src/embedded/packages/file-lock.ts";
import { assertPortFree, assertPortsFree, endOfFreePorts, freePort } from "../../src/embedded/ports.ts";
import { claimDataDir } from "../../src/embedded/processes/process-record.ts";
import { demoKey, masterKey } from "../../src/embedded/secret-file.ts";
import { chooseCacheDir, firstClosedFolder, makeDataDir } from "../../src/embedded/servers/server-user.ts";

const OTHER_USER = { name: "nobody", uid: 65_534, gid: 65_534 };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-host-"));
  await chmod(folder, 0o711);
});
afterEach(async () => rm(folder, { recursive: true, force: true }));

async function listen(): Promise<{ server: Server; port: number }> {
  const server = createServer();
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return { server, port };
}

test("equal ports and ports in use are refused by the name of their setting", async () => {
  const { server, port } = await listen();
  const api = await freePort();
  const metrics = await freePort();
  await expect(
    assertPortsFree(
      [
        ["PORT", api],
        ["METRICS_PORT", api],
      ],
      "127.0.0.1",
    ),
  ).rejects.toThrow(`METRICS_PORT and PORT are both ${api}`);
  await expect(
    assertPortsFree(
      [
        ["PORT", api],
        ["WORKER_METRICS_PORT", port],
      ],
      "127.0.0.1",
    ),
  ).rejects.toThrow(`WORKER_METRICS_PORT=${port + 1}`);
  await assertPortsFree(
    [
      ["PORT", api],
      ["METRICS_PORT", metrics],
      ["WORKER_METRICS_PORT", undefined],
    ],
    "127.0.0.1",
  );
  server.close();
});

test("a port in use is reported with the port, and with another one to choose", async () => {
  const { server, port } = await listen();
  await expect(assertPortFree("PORT", port, "127.0.0.1")).rejects.toThrow(
    new RegExp(`Port ${port} on 127.0.0.1 is in use.*PORT=${port + 1}`),
  );
  expect(await freePort(port)).not.toBe(port);
  await new Promise((resolve) => server.close(resolve));
  await assertPortFree("PORT", port, "127.0.0.1");
});

test("a port is chosen outside the range that the system hands out to connections that go out", async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, async () => freePort()));
  expect(Math.max(...ports)).toBeLessThan(32_768);
});

test.each([
  ["32768\t60999\n", 32_768],
  ["16000\t65535\n", 16_000],
  ["49152\t65535\n", 32_768],
  ["1024\t65535\n", 32_768],
  ["", 32_768],
])("of a system whose range is %j, ports below %i are free for servers", (range, end) => {
  expect(endOfFreePorts(range)).toBe(end);
});

test("the folder that keeps another user from the data folder is found and named", async () => {
  const closed = join(folder, "closed");
  const dataDir = join(closed, "data");
  await mkdir(dataDir, { recursive: true });
  await chmod(closed, 0o700);
  expect(await firstClosedFolder(dataDir, OTHER_USER)).toBe(closed);
  await expect(makeDataDir(dataDir, OTHER_USER)).rejects.toThrow(
    new RegExp(`"nobody", who may not pass through ${closed}\\..*DATA_DIR=`),
  );
  await chmod(closed, 0o711);
  expect(await firstClosedFolder(dataDir, OTHER_USER)).toBeUndefined();
});

test("a folder that is not made yet closes nothing", async () => {
  expect(await firstClosedFolder(join(folder, "not", "made"), OTHER_USER)).toBeUndefined();
});

test("a data folder that cannot be written is named", async () => {
  await writeFile(join(folder, "file"), "");
  await expect(makeDataDir(join(folder, "file", "data"), undefined)).rejects.toThrow(
    /Cannot write to .* Set DATA_DIR/,
  );
});

test("the configured cache is used alone; one that cannot be used is refused by name", async () => {
  const configured = join(folder, "cache");
  expect(await chooseCacheDir({ configured, dataDir: folder, user: undefined })).toBe(configured);
  await writeFile(join(folder, "file"), "");
  await expect(
    chooseCacheDir({ configured: join(folder, "file", "cache"), dataDir: folder, user: undefined }),
  ).rejects.toThrow(/HOLDFAST_CACHE/);
});

test("secrets are made once, for their owner alone", async () => {
  const keys = await Promise.all([masterKey(folder), masterKey(folder), masterKey(folder)]);
  expect(new Set(keys).size).toBe(1);
  expect(Buffer.from(keys[0], "base64")).toHaveLength(32);
  expect((await stat(join(folder, "master.key"))).mode & 0o777).toBe(0o600);
  expect(await demoKey(folder)).toMatch(/^sk-[0-9a-z-]{32,}$/);
});

test("a second start on the same data folder is told who runs there", async () => {
  const lock = await claimDataDir(folder);
  await expect(claimDataDir(folder)).rejects.toThrow(
    new RegExp(`already runs on ${folder} \\(process ${process.pid}\\)`),
  );
  await lock.release();
  await (await claimDataDir(folder)).release();
});

test("a lock whose process is gone, or whose number has passed on, is taken over", async () => {
  const path = join(folder, "lock");
  await writeFile(path, JSON.stringify({ pid: process.pid, startedAt: "an earlier process" }));
  const lock = await tryLock(path);
  expect("release" in lock).toBe(true);
});
