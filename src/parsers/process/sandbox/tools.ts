/** The only place that says where the system's tools are: a parser process is started through them, and with no `PATH`. */

import { accessSync, constants } from "node:fs";
import { join } from "node:path";

/** Folders that only the machine's administrator writes to. */
const FOLDERS = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"] as const;

/** Where a tool is; undefined if this machine does not have it. */
export function toolPath(name: string): string | undefined {
  return FOLDERS.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
