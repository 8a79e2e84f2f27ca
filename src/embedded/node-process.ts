/** The only place that starts our own programs: the long-running ones, and commands that end by themselves. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type Running, launch } from "./launch.ts";
import { StartError } from "./start-error.ts";
import type { Part } from "./supervise.ts";

export const PROJECT_ROOT = join(import.meta.dirname, "..", "..");
const READY_MS = 90_000;
const POLL_MS = 50;
const HEALTH_TIMEOUT_MS = 2_000;
const COMMAND_TIMEOUT_MS = 5 * 60_000;
const SHOWN_LINES = 12;

interface ProgramOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly dataDir: string;
  readonly stopGraceMs: number;
  /** Ready is when this address answers 200; without it, as soon as it runs. */
  readonly healthUrl?: string;
}

/** A part that runs `src/<name>/main.ts`. */
export function programPart(name: "api" | "worker", options: ProgramOptions): Part {
  const logPath = join(options.dataDir, "logs", `${name}.log`);
  return {
    name,
    async start(onLaunch) {
      const running = await launch({
        name,
        command: process.execPath,
        args: [join(PROJECT_ROOT, "src", name, "main.ts")],
        logPath,
        env: options.env,
        cwd: PROJECT_ROOT,
        stopSignal: "SIGTERM",
        stopGraceMs: options.stopGraceMs,
      });
      onLaunch(running);
      if (options.healthUrl === undefined || (await becomesHealthy(running, options.healthUrl))) return running;
      const tail = await running.logTail();
      await running.stop();
      throw new StartError(`The ${name} process did not start (${await running.exited}). Its last lines:\n${tail}\nThe whole log: ${logPath}`);
    },
  };
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
 * Runs one of our programs, e.g. `cli/main.ts`, to its end and returns what it printed.
 * @throws StartError with its last lines where it fails.
 */
export async function runProgram([program, ...args]: [string, ...string[]], env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [join(PROJECT_ROOT, "src", program), ...args], { env, cwd: PROJECT_ROOT, signal, timeout: COMMAND_TIMEOUT_MS });
    return stdout.trim();
  } catch (error) {
    const output = error instanceof Error && "stderr" in error && "stdout" in error ? `${String(error.stdout)}\n${String(error.stderr)}` : String(error);
    throw new StartError(`The command "${[program, ...args].join(" ")}" failed:\n${output.trim().split("\n").slice(-SHOWN_LINES).join("\n")}`, error);
  }
}
