/** Reads what was dropped: files, and folders with all that is in them. */
import type { DroppedFile } from "./uploads.ts";

/** More is no drop but a mistake, such as a whole disk. */
export const MAX_DROPPED = 10_000;
/** Files that systems put into folders, and nobody wants to search. */
const IGNORED = new Set([".DS_Store", "Thumbs.db", "desktop.ini"]);

/** @throws RangeError for more than {@link MAX_DROPPED} files */
export async function droppedFiles(transfer: DataTransfer): Promise<DroppedFile[]> {
  // The list is emptied when the event is over, so that all entries are taken at once.
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const found: DroppedFile[] = [];
  for (const entry of entries) await walk(entry, "", found);
  return found;
}

/** Of an `<input type="file">`, which knows of folders if `webkitdirectory` is set. */
export const chosenFiles = (files: FileList): DroppedFile[] =>
  [...files]
    .filter(({ name }) => !IGNORED.has(name))
    .map((file) => ({ file, path: file.webkitRelativePath.split("/").slice(0, -1).join("/") }));

async function walk(entry: FileSystemEntry, path: string, found: DroppedFile[]): Promise<void> {
  if (found.length >= MAX_DROPPED) throw new RangeError("too many files");
  if (entry.isFile && !IGNORED.has(entry.name)) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    found.push({ file, path });
  } else if (entry.isDirectory) {
    const below = path === "" ? entry.name : `${path}/${entry.name}`;
    for (const child of await childrenOf(entry as FileSystemDirectoryEntry)) await walk(child, below, found);
  }
}

/** A reader gives a hundred entries at a time, and none at the end. */
async function childrenOf(directory: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = directory.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return all;
    all.push(...some);
  }
}
