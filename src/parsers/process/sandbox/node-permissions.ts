/** What Node's own permission model lets a parser process do: read its code and its folder, and write its scratch folder. */

import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const PROJECT = new URL("../../../../", import.meta.url);

/** What a parser process reads to run: not the project's folder as a whole, in which the service's data may lie. */
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
  /** Read by this process. */
  readonly folder: string;
  /** Inside of it, and written too. */
  readonly scratch: string;
}

/**
 * Arguments of Node. Worker threads stay forbidden: they are not held to the permission model. Child processes, WASI and the inspector are
 * forbidden too.
 */
export function permissionArguments(entry: URL, { folder, scratch }: ProcessFolders): string[] {
  const readable = [...codePaths(entry), folder];
  return [
    "--permission",
    "--allow-addons",
    ...readable.map((path) => `--allow-fs-read=${path}`),
    `--allow-fs-write=${scratch}`,
    // The machine's own file is not among what may be read.
    "--openssl-config=/dev/null",
    // That addons may do more, and may lie anywhere, is known: the kernel's layers are for that.
    "--disable-warning=PERM0001",
  ];
}

/** Folders of the Node that runs this, which it may read its libraries from. */
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
