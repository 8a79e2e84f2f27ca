/** Node's permission model for a parser process: it may read its code and folder, and write scratch. */

import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const PROJECT = new URL("../../../../", import.meta.url);

/** What a parser process reads to run; not the whole project, which may contain the service's data. */
export function codePaths(entry: URL): string[] {
  const paths = [
    new URL("src", PROJECT),
    new URL("node_modules", PROJECT),
    new URL("package.json", PROJECT),
    new URL(".", entry),
  ].map((url) => fileURLToPath(url));
  return [...new Set(paths.flatMap((path) => [path, realPath(path)]))];
}

export interface ProcessFolders {
  readonly folder: string;
  /** A folder inside of it that the process may also write. */
  readonly scratch: string;
}

/**
 * The arguments of Node. Worker threads stay forbidden, since the permission model does not apply to them; so
 * do child processes, WASI and the inspector.
 *
 * @see https://nodejs.org/api/permissions.html
 */
export function permissionArguments(entry: URL, { folder, scratch }: ProcessFolders): string[] {
  const readable = [...codePaths(entry), folder];
  return [
    "--permission",
    "--allow-addons",
    ...readable.map((path) => `--allow-fs-read=${path}`),
    `--allow-fs-write=${scratch}`,
    // The machine's own file may not be read.
    "--openssl-config=/dev/null",
    // The warning says that addons may do more; the kernel's layers are for that.
    "--disable-warning=PERM0001",
  ];
}

/** Folders of the running Node, from which it may read its libraries. */
export function nodePaths(): string[] {
  return [dirname(process.execPath), dirname(realPath(process.execPath))];
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
