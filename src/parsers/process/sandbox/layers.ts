/** The layers that the kernel puts around a parser: commands that confine themselves and run the next. */

import { fileURLToPath } from "node:url";
import { codePaths, nodePaths, type ProcessFolders } from "./node-permissions.ts";
import { toolPath } from "./tools.ts";

export type LayerName = "limits" | "network" | "user" | "privileges" | "files" | "calls";

/** The process that a layer is put around. */
export interface ConfinedProcess extends ProcessFolders {
  readonly entry: URL;
  /** A user and group id that no other process has; undefined if it keeps the worker's. */
  readonly userId: number | undefined;
  /** Processor time of its whole lifetime. */
  readonly cpuSeconds: number;
  /** Private writable memory, whether it has been touched or not. */
  readonly dataBytes: number;
}

export interface Layer {
  readonly name: LayerName;
  /** The path of the tool that applies it; undefined if this machine does not have the tool. */
  readonly tool: string | undefined;
  /** Why the layer cannot be applied at all; undefined if it may be possible. */
  readonly impossible?: string | undefined;
  /** The tool's arguments around those of the layer. Adjacent layers with the same ones share a start. */
  readonly before?: readonly string[];
  readonly after?: readonly string[];
  arguments(process: ConfinedProcess): string[];
}

const KIBIBYTE = 1024;
const BLOCK_BYTES = 512;
/** The size of one file in the scratch folder. */
const MAX_FILE_BYTES = 256 * KIBIBYTE * KIBIBYTE;
/** Seconds between SIGXCPU, which a process may handle, and SIGKILL. */
const CPU_GRACE_SECONDS = 5;

/** Takes kibibytes of memory, then seconds of processor time, soft and hard, and then the command. */
const LIMITS = [
  "set -e",
  "ulimit -c 0",
  `ulimit -f ${MAX_FILE_BYTES / BLOCK_BYTES}`,
  'ulimit -d "$1"',
  'ulimit -S -t "$2"',
  'ulimit -H -t "$3"',
  "shift 3",
  'exec "$@"',
].join("; ");

const NO_CAPABILITIES = ["--inh-caps=-all", "--bounding-set=-all"] as const;

const CONFINE = fileURLToPath(new URL("./confine.pl", import.meta.url));

/** Programs and libraries, none of which is a secret. */
const SYSTEM_FOLDERS = ["/usr", "/lib", "/lib64"] as const;

/** Paths that the run times of C, V8 and libuv read if they can; none of them is needed. */
const LOOKED_UP = [
  "/etc/ld.so.cache",
  "/etc/localtime",
  "/dev/urandom",
  "/dev/random",
  "/proc/self",
  "/proc/meminfo",
  "/proc/cpuinfo",
  "/sys/fs/cgroup",
  "/sys/devices/system/cpu",
] as const;

/** The layers in the order in which they are applied: each needs rights that a later one takes away. */
export function kernelLayers(): Layer[] {
  const isRoot = process.getuid?.() === 0;
  const setpriv = toolPath("setpriv");
  const confine = { tool: toolPath("perl"), before: ["-w", CONFINE, process.arch], after: ["--"] };
  const layers: Layer[] = [
    {
      name: "limits",
      tool: toolPath("sh"),
      before: ["-c", LIMITS, "sh"],
      arguments: ({ cpuSeconds, dataBytes }) =>
        [Math.ceil(dataBytes / KIBIBYTE), cpuSeconds, cpuSeconds + CPU_GRACE_SECONDS].map(String),
    },
    {
      name: "network",
      tool: toolPath("unshare"),
      arguments: () => [...(isRoot ? [] : ["--user", "--map-current-user"]), "--net", "--ipc"],
    },
    {
      name: "user",
      tool: setpriv,
      impossible: isRoot ? undefined : "the worker is not root",
      arguments: ({ userId }) => [
        `--reuid=${userId}`,
        `--regid=${userId}`,
        "--clear-groups",
        ...NO_CAPABILITIES,
      ],
    },
    {
      name: "privileges",
      tool: setpriv,
      // The kernel sends the signal when the worker's process is gone.
      arguments: ({ userId }) => [
        ...(isRoot && userId === undefined ? NO_CAPABILITIES : []),
        "--no-new-privs",
        "--pdeathsig=KILL",
      ],
    },
    {
      name: "files",
      ...confine,
      arguments: ({ entry, folder, scratch }) => [
        ...[...SYSTEM_FOLDERS, ...nodePaths()].flatMap((path) => ["run", path]),
        ...[...LOOKED_UP, ...codePaths(entry), folder].flatMap((path) => ["read", path]),
        ...["/dev/null", scratch].flatMap((path) => ["write", path]),
      ],
    },
    { name: "calls", ...confine, arguments: () => ["calls"] },
  ];
  return process.platform === "linux"
    ? layers
    : layers.map((layer) => ({ ...layer, impossible: "only Linux has it" }));
}

/** The start of a command that applies these layers; the confined command follows it. */
export function commandOf(layers: readonly Layer[], child: ConfinedProcess): string[] {
  const hasOwnUser = layers.some((layer) => layer.name === "user");
  const confined = hasOwnUser ? child : { ...child, userId: undefined };
  return layers.flatMap((layer, index) => {
    const start = isOneStart(layers[index - 1], layer) ? [] : [layer.tool ?? "", ...(layer.before ?? [])];
    const end = isOneStart(layer, layers[index + 1]) ? [] : (layer.after ?? []);
    return [...start, ...layer.arguments(confined), ...end];
  });
}

function isOneStart(one: Layer | undefined, next: Layer | undefined): boolean {
  return (
    one !== undefined &&
    next !== undefined &&
    one.tool === next.tool &&
    one.before?.join() === next.before?.join()
  );
}
