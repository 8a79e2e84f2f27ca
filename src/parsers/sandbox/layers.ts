/** The layers that the kernel puts around a parser process: each is a command which confines itself and becomes the next. */

import { fileURLToPath } from "node:url";
import { codePaths, nodePaths, type ProcessFolders } from "./node-permissions.ts";
import { toolPath } from "./tools.ts";

export type LayerName = "limits" | "network" | "user" | "privileges" | "files" | "calls";

/** What a layer is told of the process that it is put around. */
export interface ConfinedProcess extends ProcessFolders {
  readonly entry: URL;
  /** User and group that are its own alone; undefined if it keeps the worker's. */
  readonly userId: number | undefined;
  /** Processor time of its whole life. */
  readonly cpuSeconds: number;
  /** Memory that is its own and may be written, whether it has been touched or not. */
  readonly dataBytes: number;
}

export interface Layer {
  readonly name: LayerName;
  /** The tool that applies it; undefined if this machine does not have it. */
  readonly tool: string | undefined;
  /** Undefined if the worker has not the rights for it from the outset; then the text says so. */
  readonly impossible?: string | undefined;
  /** The command up to where the confined one follows. */
  command(tool: string, process: ConfinedProcess): string[];
}

const KIBIBYTE = 1024;
const BLOCK_BYTES = 512;
/** One file in the scratch folder. */
const MAX_FILE_BYTES = 256 * KIBIBYTE * KIBIBYTE;
/** Between the signal that a process may take and the one that it may not. */
const CPU_GRACE_SECONDS = 5;

const LIMITS = `set -e; ulimit -c 0; ulimit -f ${MAX_FILE_BYTES / BLOCK_BYTES}; ulimit -d "$1"; ulimit -S -t "$2"; ulimit -H -t "$3"; shift 3; exec "$@"`;

const CONFINE = fileURLToPath(new URL("./confine.pl", import.meta.url));

/** Programs and libraries; none of it is a secret. */
const SYSTEM_FOLDERS = ["/usr", "/lib", "/lib64"] as const;

/** What the run times of C, V8 and libuv look up; each goes on without. */
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

/** The layers in the order in which they are put on: each needs rights that a later one takes. */
export function kernelLayers(): Layer[] {
  const isRoot = process.getuid?.() === 0;
  const setpriv = toolPath("setpriv");
  const perl = toolPath("perl");
  return [
    {
      name: "limits",
      tool: toolPath("sh"),
      command: (sh, { cpuSeconds, dataBytes }) => [sh, "-c", LIMITS, sh, `${Math.ceil(dataBytes / KIBIBYTE)}`, `${cpuSeconds}`, `${cpuSeconds + CPU_GRACE_SECONDS}`],
    },
    {
      name: "network",
      tool: toolPath("unshare"),
      command: (unshare) => [unshare, ...(isRoot ? [] : ["--user", "--map-current-user"]), "--net", "--ipc"],
    },
    {
      name: "user",
      tool: setpriv,
      impossible: isRoot ? undefined : "the worker is not root",
      command: (tool, { userId }) => (userId === undefined ? [] : [tool, `--reuid=${userId}`, `--regid=${userId}`, "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]),
    },
    {
      name: "privileges",
      tool: setpriv,
      // The signal comes when the worker's process is gone, and a change of user would clear it.
      command: (tool, { userId }) => [tool, ...(isRoot && userId === undefined ? ["--inh-caps=-all", "--bounding-set=-all"] : []), "--no-new-privs", "--pdeathsig=KILL"],
    },
    {
      name: "files",
      tool: perl,
      command: (tool, { entry, folder, scratch }) => [
        tool,
        CONFINE,
        ...[...SYSTEM_FOLDERS, ...nodePaths()].flatMap((path) => ["run", path]),
        ...[...LOOKED_UP, ...codePaths(entry), folder].flatMap((path) => ["read", path]),
        ...["/dev/null", scratch].flatMap((path) => ["write", path]),
        "--",
      ],
    },
    { name: "calls", tool: perl, command: (tool) => [tool, CONFINE, "calls", "--"] },
  ];
}
