/** Starts Holdfast's own processes for tests, as `node src/…/main.ts`, so that they can be killed like the real ones. */
import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";

/** The tree that this file belongs to. */
const ROOT = join(import.meta.dirname, "../../..");
/** All of what a process of a test or a drill says; what is beyond would be one that never stops. */
const KEPT_OUTPUT_CHARACTERS = 4_000_000;
/** Longer than a process that stops in order may take. */
const KILL_GRACE_MS = 75_000;

export interface TestProcess {
  readonly child: ChildProcess;
  /** What it printed last. */
  output(): string;
  /** Sends the signal and resolves when the process is gone. */
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** What a process gets of this one's environment: the machine's own, and where the run keeps compiled code for all processes that it starts. */
function inherited(): Record<string, string> {
  const names = ["PATH", "HOME", "NODE_COMPILE_CACHE"];
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

/** Another tree's processes run on the Node that its own packages bring, as its npm scripts would. */
function nodeOf(root: string): string {
  const own = join(root, "node_modules/.bin/node");
  return root !== ROOT && existsSync(own) ? own : process.execPath;
}

/** Runs a main file of `src/` with exactly these settings beside the machine's own, from this tree unless told another. */
export function startProcess(main: string, env: Record<string, string>, root = ROOT): TestProcess {
  return watched([join(root, main)], env, root);
}

/** Stands for a process that a test may start later: it does nothing and ends. */
export function endedProcess(): TestProcess {
  return watched(["--eval", ""], {}, ROOT);
}

function watched(args: readonly string[], env: Record<string, string>, root: string): TestProcess {
  return watch(
    spawn(nodeOf(root), args, {
      cwd: root,
      env: { ...inherited(), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    }),
  );
}

/** Keeps what the process prints; it is just started. */
export function watch(child: ChildProcessByStdio<null, Readable, Readable>): TestProcess {
  let printed = "";
  const keep = (chunk: Buffer): void =>
    void (printed = (printed + chunk.toString()).slice(-KEPT_OUTPUT_CHARACTERS));
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  return {
    child,
    output: () => printed,
    async kill(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill(signal);
      const force = setTimeout(() => child.kill("SIGKILL"), KILL_GRACE_MS);
      await gone;
      clearTimeout(force);
    },
  };
}

/** Runs a command of the CLI to its end. @throws with its output where it fails. */
export async function runCli(args: string[], env: Record<string, string>, root = ROOT): Promise<string> {
  const child = spawn(nodeOf(root), [join(root, "src/cli/main.ts"), ...args], {
    cwd: root,
    env: { ...inherited(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => void (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => void (stderr += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`holdfast ${args.join(" ")} ended with ${code}\n${stdout}${stderr}`);
  return stdout;
}
