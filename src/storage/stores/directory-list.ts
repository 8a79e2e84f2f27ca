/** Lists the objects in the files of a folder, in byte order of their names. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type ListedObject, type ListOptions, within } from "../object-store.ts";
import { isListed } from "./list-pages.ts";

/** Milliseconds for each call of the file system. */
export const STEP_TIMEOUT_MS = 30_000;

/** As {@link ObjectStore.list}; a file that is deleted meanwhile is not listed. */
export async function listFiles(
  folder: string,
  prefix: string,
  { after = "", limit }: ListOptions,
): Promise<ListedObject[]> {
  const found: ListedObject[] = [];
  for await (const name of walk({ folder, prefix, after }, "", 3)) {
    if (!isListed(prefix, name)) continue;
    const path = join(folder, name);
    // A file that was deleted after its folder was read is not listed.
    const stats = await within(STEP_TIMEOUT_MS, stat(path).catch(absent));
    if (stats !== undefined) found.push({ name, updatedAt: stats.mtime });
    if (found.length >= limit) break;
  }
  return found;
}

interface Walk {
  readonly folder: string;
  readonly prefix: string;
  readonly after: string;
}

/** Names in byte order. All parts of a name have fixed lengths, so it is enough to sort each folder. */
async function* walk(bounds: Walk, path: string, depth: number): AsyncGenerator<string> {
  const entries = await within(STEP_TIMEOUT_MS, readdir(join(bounds.folder, path)).catch(absent));
  for (const entry of (entries ?? []).toSorted()) {
    if (entry.startsWith(".")) continue;
    const name = path === "" ? entry : `${path}/${entry}`;
    if (depth === 1) {
      if (name > bounds.after && name.startsWith(bounds.prefix)) yield name;
    } else if (mayHold(bounds, `${name}/`)) {
      yield* walk(bounds, name, depth - 1);
    }
  }
}

function mayHold({ prefix, after }: Walk, folder: string): boolean {
  if (!prefix.startsWith(folder) && !folder.startsWith(prefix)) return false;
  return after.startsWith(folder) || folder > after;
}

/** Turns the error of a missing file or folder into undefined. */
export function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
