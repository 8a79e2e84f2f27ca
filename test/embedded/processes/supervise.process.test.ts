import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Running, launch } from "../../../src/embedded/processes/launch.ts";
import { isRunning, processId } from "../../../src/embedded/processes/process-id.ts";
import { openProcessRecord, stopLeftovers } from "../../../src/embedded/processes/process-record.ts";
import { HopelessStartError } from "../../../src/embedded/start-error.ts";
import { type Part, type Supervisor, supervise } from "../../../src/embedded/processes/supervise.ts";

let folder: string;
let supervisor: Supervisor | undefined;
const lines: string[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-supervise-"));
  lines.length = 0;
});
afterEach(async () => {
  await supervisor?.stopAll();
  await rm(folder, { recursive: true, force: true });
});

function run(name: string, script: string): Promise<Running> {
  return launch({
    name,
    command: process.execPath,
    args: ["-e", script],
    logPath: join(folder, `${name}.log`),
    stopSignal: "SIGTERM",
    stopGraceMs: 2_000,
  });
}

const IDLE = "setInterval(() => {}, 1000)";

function part(name: string, script = IDLE): Part & { launched: Running[] } {
  const launched: Running[] = [];
  return {
    name,
    launched,
    async start(onLaunch) {
      const running = await run(name, script);
      launched.push(running);
      onLaunch(running);
      return running;
    },
  };
}

function newSupervisor(onGiveUp: (why: string) => void = () => undefined): Supervisor {
  supervisor = supervise({
    onProgress: (line) => lines.push(line),
    onLaunch: () => undefined,
    onGiveUp,
    firstDelayMs: 1,
  });
  return supervisor;
}

test("a part that is killed is started again", async () => {
  const worker = part("worker");
  const first = await newSupervisor().add(worker);
  process.kill(first.pid, "SIGKILL");
  await vi.waitFor(() => expect(lines).toContain("worker is running again"), 5_000);
  expect(worker.launched).toHaveLength(2);
});

test("a part that dies each time is given up with its last end", async () => {
  const gaveUp = new Promise<string>((resolve) => newSupervisor(resolve));
  await supervisor?.add(part("worker", "process.exit(3)"));
  expect(await gaveUp).toBe("worker ended 8 times in a row (exit code 3)");
}, 20_000);

test("a part that exits with the code of wrong settings is given up at once, with its reason", async () => {
  const gaveUp = new Promise<string>((resolve) => newSupervisor(resolve));
  await supervisor?.add(part("worker", 'console.error("no data for deu"); process.exit(78)'));
  expect(await gaveUp).toBe("worker cannot run (exit code 78; its last line: no data for deu)");
  expect(lines).toEqual([]);
});

test("a part that ran, and then exits with the code of wrong settings, is given up at once", async () => {
  const gaveUp: [string, boolean][] = [];
  const worker = part("worker");
  const start = worker.start.bind(worker);
  worker.start = (onLaunch) =>
    worker.launched.length === 0
      ? start(onLaunch)
      : Promise.reject(new HopelessStartError("no data for deu"));
  supervisor = supervise({
    onProgress: (line) => lines.push(line),
    onLaunch: () => undefined,
    onGiveUp: (why, _name, isHopeless) => gaveUp.push([why, isHopeless]),
    firstDelayMs: 1,
  });
  process.kill((await supervisor.add(worker)).pid, "SIGKILL");
  await vi.waitFor(() => expect(gaveUp).toEqual([["worker cannot run (no data for deu)", true]]), 5_000);
  expect(lines).toEqual(["worker ended (signal SIGKILL); restarting in 0.001 s"]);
});

test("all parts end in the reverse order, and none is started again", async () => {
  const names: string[] = [];
  const parts = ["postgres", "temporal", "worker", "api"].map((name) => part(name));
  const running = newSupervisor();
  for (const each of parts) await running.add(each);
  for (const each of parts) void each.launched[0]?.exited.then(() => names.push(each.name));
  await running.stopAll();
  expect(names).toEqual(["api", "worker", "temporal", "postgres"]);
  expect(parts.map((each) => each.launched.length)).toEqual([1, 1, 1, 1]);
});

test("a part that ignores its signal is killed after its grace time, with its children", async () => {
  const script =
    `process.on("SIGTERM", () => {}); const c = require("node:child_process").spawn(process.execPath, ` +
    `["-e", "${IDLE}"]); console.log(c.pid); ${IDLE}`;
  const running = await run("stubborn", script);
  await vi.waitFor(async () => expect(await running.logTail()).toMatch(/^\d+$/), 5_000);
  const child = await processId(Number(await running.logTail()));
  await running.stop();
  expect(await running.exited).toBe("signal SIGKILL");
  await vi.waitFor(async () => expect(child !== undefined && (await isRunning(child))).toBe(false));
}, 10_000);

test("a stop in the middle of a start ends what was launched", async () => {
  const launched = Promise.withResolvers<Running>();
  const slow: Part = {
    name: "slow",
    async start(onLaunch) {
      const running = await run("slow", IDLE);
      onLaunch(running);
      launched.resolve(running);
      await running.exited;
      throw new Error("ended before it was ready");
    },
  };
  const adding = newSupervisor().add(slow);
  const running = await launched.promise;
  await Promise.all([expect(adding).rejects.toThrow("ended before it was ready"), supervisor?.stopAll()]);
  expect(running.hasExited()).toBe(true);
});

test("a restart starts the part anew, and counts as no failure", async () => {
  const api = part("api");
  const first = await newSupervisor().add(api);
  await supervisor?.restart("api");
  await supervisor?.restart("api");
  expect(first.hasExited()).toBe(true);
  expect(api.launched.map((each) => each.hasExited())).toEqual([true, true, false]);
  expect(lines).toEqual([]);
});

test("restarts that are asked for at once come one after the other, and leave one process", async () => {
  const worker = { ...part("worker"), mayOverlap: true };
  await newSupervisor().add(worker);
  await Promise.all([supervisor?.restart("worker"), supervisor?.restart("worker")]);
  await vi.waitFor(
    () => expect(worker.launched.map((each) => each.hasExited())).toEqual([true, true, false]),
    5_000,
  );
});

test("a part that may overlap starts before its last process has ended, which still ends", async () => {
  const stubborn = `process.on("SIGTERM", () => {}); console.log("up"); ${IDLE}`;
  const worker = { ...part("worker", stubborn), mayOverlap: true };
  const first = await newSupervisor().add(worker);
  await vi.waitFor(async () => expect(await first.logTail()).toBe("up"), 5_000);
  await supervisor?.restart("worker");
  expect(first.hasExited()).toBe(false);
  await supervisor?.stopAll();
  expect(worker.launched.map((each) => each.hasExited())).toEqual([true, true]);
}, 10_000);

test("a part that was restarted is watched like any other", async () => {
  const api = part("api");
  await newSupervisor().add(api);
  await supervisor?.restart("api");
  process.kill(api.launched[1]!.pid, "SIGKILL");
  await vi.waitFor(() => expect(lines).toContain("api is running again"), 5_000);
  expect(api.launched).toHaveLength(3);
});

/** A part whose start fails until the test lets it succeed. */
function breakable(name: string): Part & { launched: Running[]; isBroken: boolean } {
  const sound = part(name);
  return Object.assign(sound, {
    isBroken: false,
    async start(this: { isBroken: boolean }, onLaunch: (running: Running) => void) {
      const running = await run(name, this.isBroken ? "process.exit(1)" : IDLE);
      sound.launched.push(running);
      onLaunch(running);
      if (this.isBroken) throw new Error(`${name} ended: ${await running.exited}`);
      return running;
    },
  });
}

test("a part that a restart cannot start waits for the next restart", async () => {
  const gaveUp: string[] = [];
  const api = breakable("api");
  await newSupervisor((why) => gaveUp.push(why)).add(api);
  api.isBroken = true;
  for (let edits = 0; edits < 10; edits += 1)
    await expect(supervisor?.restart("api")).rejects.toThrow("api ended: exit code 1");
  expect(api.launched).toHaveLength(11);
  api.isBroken = false;
  await supervisor?.restart("api");
  expect(api.launched.at(-1)?.hasExited()).toBe(false);
  expect({ lines, gaveUp }).toEqual({ lines: [], gaveUp: [] });
});

test("a restart ends the wait of a part that keeps dying", async () => {
  const api = part("api", "process.exit(3)");
  supervisor = supervise({
    onProgress: (line) => lines.push(line),
    onLaunch: () => undefined,
    onGiveUp: () => undefined,
    firstDelayMs: 3_600_000,
  });
  await supervisor.add(api);
  await vi.waitFor(() => expect(lines).toEqual(["api ended (exit code 3); restarting in 15 s"]), 5_000);
  await supervisor.restart("api");
  expect(api.launched).toHaveLength(2);
});

test("what an earlier start left behind is stopped by the next", async () => {
  const running = await run("worker", IDLE);
  const record = await openProcessRecord(folder);
  record.add(running);
  await record.flush();
  await stopLeftovers(folder, (line) => lines.push(line));
  expect(await running.exited).toBe("signal SIGTERM");
  expect(lines.join()).toContain(`stopping worker (process ${running.pid})`);
});
