/** Finds out which layers this machine can put around a parser process, and why others cannot be applied. */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { commandOf, kernelLayers, type ConfinedProcess, type Layer, type LayerName } from "./layers.ts";
import { permissionArguments } from "./node-permissions.ts";
import { probeUserId } from "./own-user.ts";
import { toolPath } from "./tools.ts";

export interface MissingLayer {
  readonly layer: LayerName;
  /** The reason, for operators. */
  readonly because: string;
}

/** The layers between a parser process and everything else. */
export interface Sandbox {
  /** `permissions` is Node's permission model, which is always on. */
  readonly on: readonly ("permissions" | LayerName)[];
  readonly off: readonly MissingLayer[];
  /** The start of a command that applies the kernel's layers; the command of Node follows it. */
  around(process: ConfinedProcess): string[];
}

export interface SandboxOptions {
  /** The module that the processes run. */
  readonly entry: URL;
  /** The folder in which their own folders will be made. */
  readonly folder: string;
  /** Default: all that this machine may have, in their order. */
  readonly layers?: readonly Layer[] | undefined;
}

const run = promisify(execFile);
const PROBE_MS = 20_000;

/** Much more than a probe needs. */
const PROBE_LIMITS = { cpuSeconds: 60, dataBytes: 4 * 1024 ** 3 };

/**
 * Tries the layers one on top of the other, with the least that a parser process will do. Never throws: a
 * layer that the kernel refuses is off, with the reason. Takes about 100 ms, mostly for the start of one
 * Node.
 *
 * @see test/parsers/process/sandbox/layers.process.test.ts
 */
export async function prepareSandbox({
  entry,
  folder,
  layers = kernelLayers(),
}: SandboxOptions): Promise<Sandbox> {
  const probe: ConfinedProcess = { entry, folder, scratch: folder, userId: probeUserId(), ...PROBE_LIMITS };
  const quick = await applicable(layers, probe, tryReading);
  // A layer may work with the shell and not with Node; to find it, Node is started with each layer.
  const fails = await failure(quick.applied, probe, tryNode);
  const { applied, off } = fails === undefined ? quick : await applicable(layers, probe, tryNode);
  return {
    on: ["permissions", ...applied.map((layer) => layer.name)],
    off,
    around: (child) => commandOf(applied, child),
  };
}

/** The layers in one sentence, for the log. */
export function describeSandbox({ on, off }: Sandbox): string {
  const missing =
    off.length === 0 ? "nothing" : off.map(({ layer, because }) => `${layer} (${because})`).join(", ");
  return `the parser's process: on: ${on.join(", ")}; off: ${missing}`;
}

/** Whether the kernel too, in one way or another, prevents a document from harming other tenants. */
export function isWhole({ on }: Sandbox): boolean {
  const has = (...layers: LayerName[]): boolean => layers.some((layer) => on.includes(layer));
  return has("limits") && has("privileges") && has("network", "calls") && has("user", "files");
}

/** Makes the command that is tried inside the layers. */
type Attempt = (process: ConfinedProcess) => string[];

async function applicable(
  layers: readonly Layer[],
  probe: ConfinedProcess,
  attempt: Attempt,
): Promise<{ applied: Layer[]; off: MissingLayer[] }> {
  const applied: Layer[] = [];
  const off: MissingLayer[] = [];
  for (const layer of layers) {
    const because =
      layer.impossible ??
      (layer.tool === undefined
        ? "this machine does not have the tool for it"
        : await failure([...applied, layer], probe, attempt));
    if (because === undefined) applied.push(layer);
    else off.push({ layer: layer.name, because });
  }
  return { applied, off };
}

/** Why the command cannot be run inside these layers; undefined if it can. */
async function failure(
  layers: readonly Layer[],
  probe: ConfinedProcess,
  attempt: Attempt,
): Promise<string | undefined> {
  const [program = "", ...rest] = [...commandOf(layers, probe), ...attempt(probe)];
  try {
    await run(program, rest, { env: {}, timeout: PROBE_MS });
    return undefined;
  } catch (error) {
    const stderr = error instanceof Error && "stderr" in error ? String(error.stderr) : "";
    return (
      stderr.split("\n").find((line) => line.trim() !== "") ??
      (error instanceof Error ? error.message.split("\n")[0]! : "it failed")
    );
  }
}

/** Takes a folder, then paths that must be readable. It starts no process: `test` is built into the shell. */
const READ = `
test -x "$1" || { echo "$1 cannot be entered by another user" >&2; exit 1; }
shift
for path; do
  test -r "$path" || { echo "$path cannot be read by another user" >&2; exit 1; }
done`;

function tryReading({ entry, folder }: ConfinedProcess): string[] {
  const sh = toolPath("sh") ?? "/bin/sh";
  return [sh, "-c", READ, sh, folder, process.execPath, fileURLToPath(entry)];
}

function tryNode(confined: ConfinedProcess): string[] {
  return [process.execPath, ...permissionArguments(confined.entry, confined), "--eval", "0"];
}
