/** Reports which source files were edited; a burst of saves is one edit. */
import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { basename, extname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hasCode } from "../start-error.ts";

const SOURCES = new Set([".ts", ".cjs", ".sql", ".json"]);
/** Changes within this time belong together: editors write in steps, and "save all" many files. */
const QUIET_MS = 40;

export interface Edit {
  /** Paths relative to the watched folder, with `/` between folders. */
  readonly files: readonly string[];
  /** When the first of them was seen, as of `performance.now()`. */
  readonly at: number;
}

/** False for temporary files of editors: `.#name.ts` and `#name.ts#`, `.name.ts.swp` and `name.ts~`. */
export function isSource(path: string): boolean {
  return SOURCES.has(extname(path)) && !/^[.#]/.test(basename(path));
}

/** Yields edits until the signal aborts. Changes while the caller handles an edit make the next one. */
export function watchSources(folder: string, signal: AbortSignal): AsyncGenerator<Edit, void> {
  const files = new Set<string>();
  let at = 0;
  let lastAt = 0;
  let seen = Promise.withResolvers<void>();
  watchTree(folder, signal, (path) => {
    if (!isSource(path)) return;
    lastAt = performance.now();
    if (files.size === 0) at = lastAt;
    files.add(path);
    seen.resolve();
  });
  signal.addEventListener("abort", () => seen.resolve(), { once: true });
  return (async function* edits() {
    for (;;) {
      await seen.promise;
      while (!signal.aborted && performance.now() < lastAt + QUIET_MS) await sleep(QUIET_MS / 4);
      if (signal.aborted) return;
      const edit = { files: [...files].toSorted(), at };
      files.clear();
      seen = Promise.withResolvers();
      yield edit;
    }
  })();
}

/** Watches each folder: with `recursive`, Node 24 on Linux loses files that an editor replaces. */
function watchTree(root: string, signal: AbortSignal, onChange: (path: string) => void): void {
  const watchers = new Map<string, FSWatcher>();
  const watchFolder = (path: string): void => {
    watchers.get(path)?.close();
    const watcher = watch(join(root, path), { signal }, (event, name) => {
      if (name === null) return;
      const changed = path === "" ? name : `${path}/${name}`;
      if (event === "rename" && isFolder(join(root, changed))) quietly(() => addFolder(changed));
      else onChange(changed);
    });
    // The folder was removed; the watcher of its parent reports when it is back.
    watcher.on("error", () => watcher.close());
    watchers.set(path, watcher);
  };
  /** Also reports the files in a new folder, which may be older than its watcher. */
  const addFolder = (path: string): void => {
    watchFolder(path);
    for (const entry of readdirSync(join(root, path), { withFileTypes: true })) {
      if (entry.isDirectory()) addFolder(`${path}/${entry.name}`);
      else onChange(`${path}/${entry.name}`);
    }
  };
  watchFolder("");
  for (const path of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (isFolder(join(root, path))) watchFolder(path.replaceAll("\\", "/"));
  }
}

/** Ignores that a folder is gone again, as during a checkout; another event reports when it is back. */
function quietly(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
