/** Unpacks a wheel, which is a zip file, one entry at a time. */
import { createWriteStream } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Entry, type ZipFile, getFileNameLowLevel, openPromise, validateFileName } from "yauzl";

const EXECUTE_BITS = 0o111;

/**
 * Unpacks `zipPath` into `folder`; executable bits are kept, everything is readable by all users. Files that
 * are already there are written over.
 * @throws Error if the file is no zip, is damaged, or holds a path that leads out of `folder`.
 * @see test/embedded/packages/fetch.test.ts
 */
export async function unzip(zipPath: string, folder: string): Promise<void> {
  const zip = await openZip(zipPath);
  try {
    const made = new Set<string>([resolve(folder)]);
    for await (const entry of entriesOf(zip))
      await unpackEntry(zip, entry, { folder: resolve(folder), made });
  } finally {
    zip.close();
  }
}

async function openZip(path: string): Promise<ZipFile> {
  try {
    // Names are decoded here, so that one that leads out of the folder is not taken for a damaged directory.
    return await openPromise(path, { autoClose: false, decodeStrings: false });
  } catch (error) {
    throw new Error("not a zip file", { cause: error });
  }
}

async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry> {
  try {
    yield* zip.eachEntry();
  } catch (error) {
    throw new Error("the zip file is truncated or its directory is damaged", { cause: error });
  }
}

interface Target {
  readonly folder: string;
  /** Folders that are known to exist. */
  readonly made: Set<string>;
}

async function unpackEntry(zip: ZipFile, entry: Entry, target: Target): Promise<void> {
  const name = getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, false);
  if (validateFileName(name) !== null) throw new Error("the zip file contains a path outside its folder");
  const path = join(target.folder, name);
  const isFolder = name.endsWith("/");
  await makeFolder(isFolder ? resolve(path) : dirname(path), target.made);
  if (isFolder) return;
  await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(path));
  await chmod(path, isExecutable(entry) ? 0o755 : 0o644);
}

/** The upper half of the external attributes is the Unix mode. */
function isExecutable(entry: Entry): boolean {
  return ((entry.externalFileAttributes >>> 16) & EXECUTE_BITS) !== 0;
}

/** Sets the mode by itself: the umask may hide the folder from the user that a server runs as. */
async function makeFolder(path: string, made: Set<string>): Promise<void> {
  if (made.has(path)) return;
  await makeFolder(dirname(path), made);
  await mkdir(path, { recursive: true });
  await chmod(path, 0o755);
  made.add(path);
}
