/** Starts long-running child processes, each in a process group of its own, its output in a log file. */
import { type StdioOptions, spawn } from "node:child_process";
import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { keepBounded, rotate } from "./log-files.ts";
import type { ServerUser } from "../servers/server-user.ts";

const TAIL_BYTES = 4_000;
const TAIL_LINES = 12;

export interface LaunchOptions {
  readonly name: string;
  readonly command: string;
  readonly args: string[];
  readonly logPath: string;
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly cwd?: string | undefined;
  readonly user?: ServerUser | undefined;
  /** The signal that asks it to end in order. */
  readonly stopSignal: NodeJS.Signals;
  /** How long it may take to end before it is killed. */
  readonly stopGraceMs: number;
  /** Receives the messages of the process; without it the process has no channel. */
  readonly onMessage?: (message: unknown) => void;
}

export interface Running {
  readonly name: string;
  readonly pid: number;
  readonly stopSignal: NodeJS.Signals;
  /** Resolves with how it ended, e.g. `exit code 1`. Never rejects. */
  readonly exited: Promise<string>;
  hasExited(): boolean;
  /** Ends it and what it left in its process group. Idempotent. */
  stop(): Promise<void>;
  /** Kills it and its process group at once. */
  kill(): void;
  send(message: string): void;
  /** The last lines that this launch wrote. */
  logTail(): Promise<string>;
}

/** @throws Error if the program cannot be started at all */
export async function launch(options: LaunchOptions): Promise<Running> {
  const { file, start } = await openLog(options.logPath);
  const stopRotating = keepBounded(options.logPath);
  const stdio: StdioOptions = ["ignore", file.fd, file.fd];
  if (options.onMessage !== undefined) stdio.push("ipc");
  // A process group of its own: Ctrl-C reaches only the supervisor, which stops its parts in order.
  const identity = options.user === undefined ? {} : { uid: options.user.uid, gid: options.user.gid };
  const child = spawn(options.command, options.args, {
    stdio,
    detached: true,
    env: options.env,
    cwd: options.cwd,
    ...identity,
  });
  if (options.onMessage !== undefined) child.on("message", options.onMessage);
  let hasEnded = false;
  const exited = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => {
      hasEnded = true;
      stopRotating();
      // Kills what it left in its group, such as the parser processes of a worker that was killed.
      signalGroup(child.pid, "SIGKILL");
      resolve(signal === null ? `exit code ${code ?? "unknown"}` : `signal ${signal}`);
    });
  });
  try {
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
  } finally {
    await file.close();
  }
  const pid = child.pid ?? 0;
  return {
    name: options.name,
    pid,
    stopSignal: options.stopSignal,
    exited,
    hasExited: () => hasEnded,
    kill() {
      if (!hasEnded) signalGroup(pid, "SIGKILL");
    },
    send(message) {
      // If it has ended meanwhile, `exited` says so.
      if (child.connected) child.send(message, () => undefined);
    },
    async stop() {
      if (hasEnded) return;
      child.kill(options.stopSignal);
      const grace = new AbortController();
      await Promise.race([
        exited,
        sleep(options.stopGraceMs, undefined, { signal: grace.signal }).catch(() => undefined),
      ]);
      grace.abort();
      if (!hasEnded) signalGroup(pid, "SIGKILL");
      await exited;
    },
    logTail: () => readTail(options.logPath, start),
  };
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended already.
  }
}

async function openLog(path: string) {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await rotate(path);
  const file = await open(path, "a", 0o600);
  return { file, start: (await file.stat()).size };
}

async function readTail(path: string, start: number): Promise<string> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    // If the file is shorter than it was, it was rotated meanwhile.
    const from = Math.max(size < start ? 0 : start, size - TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(Math.max(0, size - from)),
      0,
      Math.max(0, size - from),
      from,
    );
    const lines = buffer.toString("utf8", 0, bytesRead).trimEnd().split("\n");
    // When a module cannot be loaded, Node's own frames would leave no room for the file and the line.
    const own = lines.filter((line) => !/^ +at .*\bnode:internal\//.test(line));
    return own.slice(-TAIL_LINES).join("\n");
  } finally {
    await file.close();
  }
}
