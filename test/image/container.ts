/**
 * Runs commands in an assembled image as a container engine would, as far as that is possible without one.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const SCRIPT = join(import.meta.dirname, "container.sh");
const UNSHARE = "unshare";
const STEP_MS = 300_000;
/** The user `node` of the base image. */
const NODE_USER = 1_000;

export interface Container {
  readonly child: ChildProcess;
  output(): string;
  /** Resolves with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

interface Run {
  /** The image's file system. */
  readonly root: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Absolute paths that may be written; the rest of the root is read-only. */
  readonly volume?: string;
  readonly isBuild?: boolean;
}

/** Undefined if mount namespaces are allowed here; otherwise the reason why not. */
export function missingForContainers(): string | undefined {
  if (process.getuid?.() !== 0) return "the tests do not run as root";
  try {
    execFileSync(
      UNSHARE,
      ["--mount", "sh", "-c", "mount --make-rprivate / && command -v pivot_root && command -v setpriv"],
      { stdio: "pipe", timeout: 10_000 },
    );
    return undefined;
  } catch (error) {
    return `mount namespaces: ${(error as Error).message.split("\n")[0]}`;
  }
}

/**
 * Runs as an engine does: with a read-only root and the user without rights. A build step runs as root and
 * may write.
 */
export function startContainer(
  command: readonly string[],
  { root, workdir, env, volume = "-", isBuild = false }: Run,
): Container {
  const args = [
    "--mount",
    "sh",
    SCRIPT,
    root,
    isBuild ? "rw" : "ro",
    String(isBuild ? 0 : NODE_USER),
    workdir,
    process.execPath,
    volume,
    ...command,
  ];
  const child = spawn(UNSHARE, args, {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  const keep = (chunk: Buffer): void => {
    printed = (printed + chunk.toString()).slice(-1_000_000);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const ended = once(child, "close").then(([code, signal]) => (code ?? signal) as number | string);
  return { child, output: () => printed, ended };
}

/** @throws Error with its output if it does not end with 0 */
export async function runContainer(command: readonly string[], run: Run): Promise<string> {
  const container = startContainer(command, run);
  const force = setTimeout(() => container.child.kill("SIGKILL"), STEP_MS);
  const code = await container.ended;
  clearTimeout(force);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}:\n${container.output()}`);
  return container.output();
}
