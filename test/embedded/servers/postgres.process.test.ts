import { chmod, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "../../../src/config/config.ts";
import { type Postgres, startPostgres } from "../../../src/embedded/servers/postgres.ts";
import { chooseCacheDir, makeDataDir, serverUser } from "../../../src/embedded/servers/server-user.ts";

let folder: string;
let dataDir: string;
const started: Postgres[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-postgres-"));
  await chmod(folder, 0o711);
  dataDir = join(folder, "data");
  await makeDataDir(dataDir, await serverUser());
});
afterAll(async () => {
  for (const server of started) await server.stop();
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<Postgres> {
  const cacheDir = await chooseCacheDir({
    configured: loadConfig().cacheDir,
    dataDir,
    user: await serverUser(),
  });
  const server = await startPostgres({
    dataDir,
    cacheDir,
    sharedBuffersMiB: 32,
    onProgress: () => undefined,
  });
  started.push(server);
  return server;
}

async function ask(server: Postgres, query: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    return (await client.query(query)).rows;
  } finally {
    await client.end();
  }
}

test("the embedded Postgres has pgvector, is closed to others, and starts again after a kill", async () => {
  const first = await start();
  await ask(first, "create extension vector");
  await ask(first, "create table kept as select '[1,2]'::halfvec(2) as v");
  expect((await stat(join(dataDir, "postgres-password"))).mode & 0o777).toBe(0o600);
  expect((await stat(join(dataDir, "postgres"))).mode & 0o777).toBe(0o700);
  const guessed = { ...first, url: first.url.replace(/:[0-9a-f]+@/, ":wrong@") };
  await expect(ask(guessed, "select 1")).rejects.toThrow("password authentication failed");

  process.kill(first.pid, "SIGKILL");
  expect(await first.exited).toBe("signal SIGKILL");
  const second = await start();
  expect(await ask(second, "select v::text from kept")).toEqual([{ v: "[1,2]" }]);
  await second.stop();
  expect(await second.exited).toBe("exit code 0");
}, 180_000);
