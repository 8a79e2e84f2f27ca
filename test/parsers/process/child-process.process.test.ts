/**
 * Whatever a document does to its parser, the pool gives a result or a code, and leaves no process behind.
 */

import { execFileSync, fork } from "node:child_process";
import { chmodSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  createParserPool,
  type ParserPool,
  type ParserPoolOptions,
} from "../../../src/parsers/process/child-process.ts";
import type { ParseInput } from "../../../src/parsers/parser.ts";
import { makeLongPdf } from "../../support/files/text.ts";

const MEBIBYTE = 1024 * 1024;
const misbehaving = new URL("../../support/processes/misbehaving-child.ts", import.meta.url);
let pool: ParserPool | undefined;

function poolOf(options: Partial<ParserPoolOptions>): ParserPool {
  pool = createParserPool({ size: 1, entry: misbehaving, ...options });
  return pool;
}

const asks = (behaviour: string): ParseInput => ({ fileType: "TEXT", bytes: Buffer.from(behaviour) });
const pidOf = async (from: ParserPool): Promise<number> =>
  Number((await from.parse(asks("pid"))).units[0]?.text);

function childrenOf(parent: number): number[] {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  return lines
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, ppid]) => ppid === parent)
    .map(([pid]) => pid ?? 0);
}

/** False for a zombie, which has ended and was not reaped yet. */
function isRunning(pid: number): boolean {
  try {
    return !execFileSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" })
      .trim()
      .startsWith("Z");
  } catch {
    return false;
  }
}

/** Runs the test with a folder for parser processes. */
async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "parser-marker-"));
  // A parser process with a user of its own must be able to enter it.
  chmodSync(folder, 0o711);
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Whether a parser process in the folder has written the file `marker`, as it does before it spins. */
const isSpinning = (folder: string): boolean => globSync(join(folder, "*", "scratch", "marker")).length > 0;

afterEach(async () => {
  await pool?.close();
  pool = undefined;
});

describe("a document that harms its parser fails with a code, and the next one is read", () => {
  test.each([
    ["runs forever", "spin", "timeout", { timeoutMs: 400 }],
    ["never answers", "wait:600000", "timeout", { timeoutMs: 400 }],
    ["takes memory outside of V8's heap", "grow", "out_of_memory", { maxRssBytes: 250 * MEBIBYTE }],
    ["makes it answer without end", "flood", "out_of_memory", {}],
    ["reserves more than it may have", "reserve", "out_of_memory", {}],
    ["takes more processor time than the kernel lets it", "spin", "timeout", { maxCpuSeconds: 1 }],
    ["fills V8's heap", "heap", "out_of_memory", { maxOldSpaceMb: 64 }],
    ["crashes it twice", "abort", "worker_crashed", {}],
    ["makes it exit twice", "exit", "worker_crashed", {}],
    ["has it killed twice", "kill", "worker_crashed", {}],
    ["finds a bug in it", "throw", "corrupt", {}],
  ])("one that %s", async (_name, behaviour, code, options) => {
    const from = poolOf(options);
    await expect(from.parse(asks(behaviour))).rejects.toMatchObject({ name: "DomainError", code });
    expect(await pidOf(from)).toBeGreaterThan(0);
  });
});

test("giving up kills the process and throws the caller's reason", async () => {
  const controller = new AbortController();
  await withFolder(async (folder) => {
    const from = poolOf({ folder });
    const pid = await pidOf(from);
    const parsing = from.parse(asks("spin:marker"), { signal: controller.signal });
    await expect.poll(() => isSpinning(folder)).toBe(true);
    controller.abort(new Error("superseded"));
    await expect(parsing).rejects.toThrow("superseded");
    expect(isRunning(pid)).toBe(false);
  });
});

test("giving up while waiting for a free process leaves the queue", async () => {
  const from = poolOf({});
  const first = from.parse(asks("wait:300"));
  const controller = new AbortController();
  const second = from.parse(asks("pid"), { signal: controller.signal });
  controller.abort(new Error("gone"));
  await expect(second).rejects.toThrow("gone");
  await expect(first).resolves.toBeDefined();
});

test("time in the queue does not count", async () => {
  const from = poolOf({ timeoutMs: 900 });
  const results = await Promise.all([1, 2, 3].map(() => from.parse(asks("wait:500"))));
  expect(results).toHaveLength(3);
});

test("a process that dies idle is replaced, and one killed from outside loses no document", async () => {
  const from = poolOf({});
  const idle = await pidOf(from);
  process.kill(idle, "SIGKILL");
  const busy = await pidOf(from);
  expect(busy).not.toBe(idle);
  const parsing = from.parse(asks("wait:300"));
  process.kill(busy, "SIGKILL");
  expect(Number((await parsing).units[0]?.text)).not.toBe(busy);
});

test("a process is used for many documents and replaced after the last of them", async () => {
  const from = poolOf({ maxDocumentsPerChild: 3 });
  const pids: number[] = [];
  for (let at = 0; at < 6; at++) pids.push(await pidOf(from));
  expect(new Set(pids.slice(0, 3)).size).toBe(1);
  expect(new Set(pids.slice(3)).size).toBe(1);
  expect(pids[0]).not.toBe(pids[3]);
});

test("a process that kept too much memory is replaced", async () => {
  const from = poolOf({ recycleRssBytes: 1 });
  expect(await pidOf(from)).not.toBe(await pidOf(from));
});

test("a process that took much processor time is replaced", async () => {
  const from = poolOf({ recycleCpuSeconds: 0.3 });
  const first = await pidOf(from);
  await from.parse(asks("burn:400"));
  expect(await pidOf(from)).not.toBe(first);
});

test("a process sees none of the worker's environment", async () => {
  const names = (await poolOf({}).parse(asks("environment"))).units.map((unit) => unit.text);
  expect(names).not.toContain("PATH");
});

test("processes that cannot start give an error instead of waiting", async () => {
  await expect(poolOf({ entry: new URL("file:///nowhere/child.ts") }).parse(asks("pid"))).rejects.toThrow(
    "does not start",
  );
});

test("closing leaves no process and refuses later calls", async () => {
  const from = poolOf({ size: 2 });
  const pid = await pidOf(from);
  const under = from.parse(asks("spin")).catch((error: Error) => error.message);
  await from.close();
  expect(await under).toContain("closed");
  expect(isRunning(pid)).toBe(false);
  await expect(from.parse(asks("pid"))).rejects.toThrow("closed");
});

test.each([
  ["by the kernel", "all"],
  ["by a shell, if the kernel does not", "none"],
])("the worker's death ends its processes, in an endless loop or idle, %s", async (_how, layers) => {
  await withFolder(async (folder) => {
    const owner = fork(new URL("../../support/processes/pool-owner.ts", import.meta.url), [folder, layers], {
      execArgv: [],
      stdio: "ignore",
    });
    try {
      await expect.poll(() => isSpinning(folder), { timeout: 10_000 }).toBe(true);
      const children = childrenOf(owner.pid ?? 0);
      expect(children).toHaveLength(layers === "none" ? 4 : 2);
      owner.kill("SIGKILL");
      await expect.poll(() => children.filter(isRunning), { timeout: 10_000 }).toEqual([]);
    } finally {
      owner.kill("SIGKILL");
    }
  });
});

test("a result of tens of megabytes arrives whole, and the event loop is not blocked", async () => {
  const from = poolOf({});
  await pidOf(from);
  const turns: number[] = [];
  let last = process.threadCpuUsage();
  // Processor time of this thread, compared with all of it: how busy the machine is changes neither.
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(last);
    turns.push(user + system);
    last = process.threadCpuUsage();
  };
  const looking = setInterval(look, 5);
  const { units } = await from.parse(asks("many:20000"));
  look();
  clearInterval(looking);
  expect(units).toHaveLength(20_000);
  expect(units.at(-1)?.text.startsWith("unit 19999 ")).toBe(true);
  const sum = turns.reduce((total, one) => total + one, 0);
  const longest = Math.max(...turns);
  expect(longest / 1_000).toBeLessThan(250);
  expect(longest / sum).toBeLessThan(0.5);
});

test("real PDF files are read: small and large bytes, ranges, and page counts", async () => {
  pool = createParserPool({ size: 1 });
  const small = makeLongPdf(3);
  const large = Buffer.concat([makeLongPdf(2000), Buffer.alloc(MEBIBYTE, " ")]);
  expect((await pool.parse({ fileType: "PDF", bytes: small })).page_count).toBe(3);
  expect((await pool.parse({ fileType: "PDF", bytes: large })).units).toHaveLength(4000);
  expect((await pool.parse({ fileType: "PDF", bytes: large, pages: [1990, 1999] })).units).toHaveLength(20);
  expect(await pool.pageCount({ fileType: "PDF", bytes: small })).toBe(3);
  await expect(pool.parse({ fileType: "PDF", path: "/nowhere/x.pdf" })).rejects.toMatchObject({
    code: "internal",
  });
  await expect(pool.parse({ fileType: "OTHER", bytes: small })).rejects.toMatchObject({
    code: "unsupported_file_type",
  });
});
