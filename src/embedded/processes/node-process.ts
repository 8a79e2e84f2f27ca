/** Starts our own programs: the API and the worker, and commands that end by themselves. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { READY } from "../../process/ready.ts";
import { type Running, launch } from "./launch.ts";
import { HopelessStartError, StartError, isHopelessEnd } from "../start-error.ts";
import type { Part } from "./supervise.ts";

export const PROJECT_ROOT = join(import.meta.dirname, "../../..");
const STANDBY = join(PROJECT_ROOT, "src/embedded/servers/standby-main.ts");
const READY_MS = 90_000;
const POLL_MS = 50;
const HEALTH_TIMEOUT_MS = 2_000;
const COMMAND_TIMEOUT_MS = 5 * 60_000;
const SHOWN_LINES = 12;

interface ProgramOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly dataDir: string;
  readonly stopGraceMs: number;
  /** The program is ready when this address answers 200; without one, as soon as it runs. */
  readonly healthUrl?: string;
  /** The program is ready only after it says so, over a channel that it gets for this. */
  readonly saysWhenReady?: boolean;
  readonly mayOverlap?: boolean;
}

interface Program extends Part {
  /** Launches a process that loads the packages and waits for the next start. Needs `saysWhenReady`. */
  prepare(): void;
}

interface Launched {
  readonly running: Running;
  /** Resolves with true when the process says that it is ready. */
  readonly said: Promise<boolean>;
}

/** A part that runs `src/<name>/main.ts`. */
export function programPart(name: "api" | "worker", options: ProgramOptions): Program {
  const logPath = join(options.dataDir, "logs", `${name}.log`);
  const main = join(PROJECT_ROOT, "src", name, "main.ts");
  let waiting: Promise<Launched | undefined> | undefined;
  const takeWaiting = async (): Promise<Launched | undefined> => {
    const launched = await waiting;
    waiting = undefined;
    if (launched === undefined || launched.running.hasExited()) return undefined;
    launched.running.send(main);
    return launched;
  };
  return {
    name,
    mayOverlap: options.mayOverlap ?? false,
    prepare() {
      waiting ??= launchNode([STANDBY, name], options, { name, logPath }).catch(() => undefined);
    },
    async start(onLaunch) {
      const { running, said } =
        (await takeWaiting()) ?? (await launchNode([main], options, { name, logPath }));
      onLaunch(running);
      if (await becomesReady(running, said, options)) return running;
      const tail = await running.logTail();
      await running.stop();
      const ended = await running.exited;
      const why =
        `The ${name} process did not start (${ended}). Its last lines:\n${tail}\n` +
        `The whole log: ${logPath}`;
      throw isHopelessEnd(ended) ? new HopelessStartError(why) : new StartError(why);
    },
  };
}

async function launchNode(
  args: string[],
  options: ProgramOptions,
  { name, logPath }: { name: string; logPath: string },
): Promise<Launched> {
  const said = Promise.withResolvers<boolean>();
  const onMessage = (message: unknown): void => {
    if (message === READY) said.resolve(true);
  };
  const running = await launch({
    name,
    command: process.execPath,
    args,
    logPath,
    env: options.env,
    cwd: PROJECT_ROOT,
    stopSignal: "SIGTERM",
    stopGraceMs: options.stopGraceMs,
    ...(options.saysWhenReady ? { onMessage } : {}),
  });
  return { running, said: said.promise };
}

async function becomesReady(
  running: Running,
  said: Promise<boolean>,
  options: ProgramOptions,
): Promise<boolean> {
  const { healthUrl, saysWhenReady } = options;
  if (!saysWhenReady) return healthUrl === undefined || becomesHealthy(running, healthUrl);
  const wait = new AbortController();
  const late = sleep(READY_MS, false, { signal: wait.signal }).catch(() => false);
  const isReady = await Promise.race([said, running.exited.then(() => false), late]);
  wait.abort();
  return isReady && (healthUrl === undefined || becomesHealthy(running, healthUrl));
}

async function becomesHealthy(running: Running, url: string): Promise<boolean> {
  const deadline = Date.now() + READY_MS;
  while (!running.hasExited() && Date.now() < deadline) {
    const isUp = await fetch(url, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) }).then(
      (response) => response.ok,
      () => false,
    );
    if (isUp) return true;
    await sleep(POLL_MS);
  }
  return false;
}

/**
 * Runs one of our programs, e.g. `src/cli/main.ts`, to its end.
 * @returns what it printed, trimmed.
 * @throws StartError with its last lines if it fails
 */
export async function runProgram(
  [program, ...args]: [string, ...string[]],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<string> {
  try {
    // With the default limit of 1 MB a command with a long list would be killed, and the start would fail.
    const options = { env, cwd: PROJECT_ROOT, signal, timeout: COMMAND_TIMEOUT_MS, maxBuffer: Infinity };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(PROJECT_ROOT, program), ...args],
      options,
    );
    return stdout.trim();
  } catch (error) {
    const output =
      error instanceof Error && "stderr" in error && "stdout" in error
        ? `${String(error.stdout)}\n${String(error.stderr)}`
        : String(error);
    const lastLines = output.trim().split("\n").slice(-SHOWN_LINES).join("\n");
    throw new StartError(`The command "${[program, ...args].join(" ")}" failed:\n${lastLines}`, error);
  }
}
