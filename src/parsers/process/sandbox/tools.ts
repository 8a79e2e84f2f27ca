/** Finds the system's tools that start a parser process, which has no `PATH`. */

import { accessSync, constants } from "node:fs";
import { join } from "node:path";

/** Folders to which only the machine's administrator can write. */
const FOLDERS = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"] as const;

/** The path of a tool; undefined if this machine does not have it. */
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
