/** Tells which source files were edited, a burst of saves at a time. */
import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { basename, extname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hasCode } from "../start-error.ts";

const SOURCES = new Set([".ts", ".cjs", ".sql", ".json"]);
/** An editor writes a file in several steps, and "save all" many files; what follows this closely belongs together. */
const QUIET_MS = 40;

export interface Edit {
  /** Below the folder that is watched, with `/` between folders. */
  readonly files: readonly string[];
  /** When the first of them was seen, by `performance.now()`. */
  readonly at: number;
}

/** False for what editors keep beside a file: `.#name.ts` and `#name.ts#` (Emacs), `.name.ts.swp` and `name.ts~` (Vim). */
export function isSource(path: string): boolean {
  return SOURCES.has(extname(path)) && !/^[.#]/.test(basename(path));
}

/** Edits from now on, until the signal; what is edited while the caller works on one edit is the next. */
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

/**
 * Watches each folder by itself. With `recursive`, Node 24 on Linux watches each file, and loses one that an editor puts into the
 * place of another: what is written into it later is not told.
 */
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
    // It was removed, with its branch perhaps. Its parent tells when it is back.
    watcher.on("error", () => watcher.close());
    watchers.set(path, watcher);
  };
  /** What is in a folder that is new may have been there before it was watched. */
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

/** A folder may be gone again, as when a branch is checked out; another event tells when it is back. */
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
