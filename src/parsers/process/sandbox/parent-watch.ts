/** Ends a parser after its worker was killed: a shell waits until the worker's end of a pipe closes. */

import { spawn, type ChildProcess } from "node:child_process";
import { toolPath } from "./tools.ts";

const WAIT_AND_KILL = 'read -r nothing; kill -9 "$1"';

/** Watches until the process has ended: another process may have its id after that. */
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
