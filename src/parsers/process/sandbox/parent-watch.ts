/** Ends a parser process after the worker was killed, where the kernel does not: a shell waits for the worker's end of a pipe to close. */

import { spawn, type ChildProcess } from "node:child_process";
import { toolPath } from "./tools.ts";

const WAIT_AND_KILL = 'read -r nothing; kill -9 "$1"';

/** Until the process has ended: its id may be somebody else's after that. */
export function watchParent(child: ChildProcess): void {
  if (child.pid === undefined) return;
  const sh = toolPath("sh") ?? "/bin/sh";
  const watcher = spawn(sh, ["-c", WAIT_AND_KILL, sh, String(child.pid)], {
    env: {},
    stdio: ["pipe", "ignore", "ignore"],
  });
  watcher.on("error", () => undefined);
  watcher.unref();
  child.once("exit", () => watcher.kill("SIGKILL"));
}
