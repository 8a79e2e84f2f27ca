/**
 * Starts Holdfast's own processes for tests, as `node src/…/main.ts`, so that they can be killed like real
 * ones.
 */
import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";

/** The root of the source tree that this file belongs to. */
const ROOT = join(import.meta.dirname, "../../..");
/** More than any process of a test or a drill prints, unless it prints without end. */
const KEPT_OUTPUT_CHARACTERS = 4_000_000;
/** Longer than a process may take to stop in order. */
const KILL_GRACE_MS = 75_000;

export interface TestProcess {
  readonly child: ChildProcess;
  /** The end of what it has printed. */
  output(): string;
  /** Sends the signal, and resolves after the process is gone. */
  kill(signal: NodeJS.Signals): Promise<void>;
}

/**
 * The variables that a process inherits from this one: those of the machine, and the folder in which the run
 * keeps compiled code for all processes.
 */
function inherited(): Record<string, string> {
  const names = ["PATH", "HOME", "NODE_COMPILE_CACHE"];
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

const NODE_ARGUMENTS = "HOLDFAST_TEST_NODE_ARGUMENTS";

/**
 * Starts all main files of this run with these arguments of Node. `--no-memory-reducer` keeps idle processes
 * from collecting garbage: each would do so twice after its start, and each of its threads, which takes as
 * much processor time as half of the start. A run that looks at the memory of processes must not ask for it.
 */
export function startProcessesWith(...nodeArguments: readonly string[]): void {
  process.env[NODE_ARGUMENTS] = nodeArguments.join(" ");
}

/** Returns the Node that a tree's own packages bring, as its npm scripts would use it. */
function nodeOf(root: string): string {
  const own = join(root, "node_modules/.bin/node");
  return root !== ROOT && existsSync(own) ? own : process.execPath;
}

/**
 * Runs a main file of `src/` with exactly these settings and the machine's own variables, from this tree
 * unless another is given.
 */
export function startProcess(main: string, env: Record<string, string>, root = ROOT): TestProcess {
  return watched([...(process.env[NODE_ARGUMENTS]?.split(" ") ?? []), join(root, main)], env, root);
}

/** A placeholder for a process that a test may start later: it does nothing and has ended. */
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

/** Collects what the process prints. Call it right after the start. */
export function watch(child: ChildProcessByStdio<null, Readable, Readable>): TestProcess {
  let printed = "";
  const keep = (chunk: Buffer): void => {
    printed = (printed + chunk.toString()).slice(-KEPT_OUTPUT_CHARACTERS);
  };
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

/**
 * Runs a command of the CLI to its end and returns what it printed.
 * @throws Error with the output if the command fails.
 */
export async function runCli(args: string[], env: Record<string, string>, root = ROOT): Promise<string> {
  const child = spawn(nodeOf(root), [join(root, "src/cli/main.ts"), ...args], {
    cwd: root,
    env: { ...inherited(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`holdfast ${args.join(" ")} ended with ${code}\n${stdout}${stderr}`);
  return stdout;
}
