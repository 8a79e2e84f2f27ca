/** The only object store over a folder of this machine: each object is a file that appears whole, by rename, or not at all. */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { access, link, mkdir, open, readdir, rename, stat, unlink } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { DomainError } from "../../domain/errors.ts";
import { drillPoint } from "../../telemetry/drill-point.ts";
import { isListed } from "./list-pages.ts";
import {
  UnfitStoreError,
  assertStoredName,
  assertPrefix,
  free,
  streamOf,
  unavailable,
  untilAborted,
  within,
} from "../object-store.ts";
import type { GetOptions, ListedObject, ListOptions, ObjectStore, PutOptions } from "../object-store.ts";

const STEP_TIMEOUT_MS = 30_000;
const READ_BYTES = 256 * 1024;
const WRITE_BYTES = 256 * 1024;
const TEMPORARY = ".tmp";

/** Objects below `folder`, which is made with mode 0700 where it does not exist. */
export function createDirectoryStore(folder: string): ObjectStore {
  const pathOf = (name: string): string => join(folder, assertStoredName(name));
  return {
    put: (name, body, options = {}) => putFile({ folder, path: pathOf(name) }, body, options),
    get: (name, options = {}) => whileMounted(folder, () => openFile(pathOf(name), options)),
    size: async (name) =>
      (await whileMounted(folder, () => within(STEP_TIMEOUT_MS, stat(pathOf(name))))).size,
    delete: (name) =>
      whileMounted(folder, () => within(STEP_TIMEOUT_MS, unlink(pathOf(name)))).catch(ignoreNotFound),
    list: (prefix, options) => listFiles(folder, assertPrefix(prefix), options),
    removeUnfinished: (olderThanMs) => sweep(join(folder, TEMPORARY), olderThanMs),
    async prove() {
      const mistake = await within(STEP_TIMEOUT_MS, findMistake(folder, folder));
      if (mistake !== undefined) throw mistake;
    },
  };
}

/** What a disk that is not mounted yet looks like is an outage and no mistake, and nothing is made where it belongs; so is whatever stands in the folder's own place. */
const MISTAKES = new Set(["EACCES", "ENOTDIR", "EPERM"]);

/** Looks whether this user may write the nearest folder that is there. */
async function findMistake(folder: string, nearest: string): Promise<UnfitStoreError | undefined> {
  try {
    const code = nearest === folder ? "EEXIST" : "ENOTDIR";
    if (!(await stat(nearest)).isDirectory())
      throw Object.assign(new Error(`${code}: ${nearest} is no folder`), { code });
    await access(nearest, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "ENOENT" && dirname(nearest) !== nearest) return findMistake(folder, dirname(nearest));
    if (MISTAKES.has(code))
      return new UnfitStoreError(
        `DATA_DIR must be a folder that this user may write: ${folder} cannot be used (${code})`,
        { cause: error },
      );
    throw unavailable(error);
  }
}

interface Target {
  readonly folder: string;
  readonly path: string;
}

async function putFile(
  target: Target,
  body: AsyncIterable<Uint8Array>,
  options: PutOptions,
): Promise<{ bytes: number }> {
  options.signal?.throwIfAborted();
  const temporary = join(target.folder, TEMPORARY, randomUUID());
  try {
    const bytes = await writeTemporary(temporary, body, options);
    await step(publish(temporary, target, options.ifAbsent ?? false));
    return { bytes };
  } catch (error) {
    await removeFile(temporary).catch(() => {});
    throw error;
  }
}

async function writeTemporary(
  path: string,
  body: AsyncIterable<Uint8Array>,
  { signal, ownsPieces = false }: PutOptions,
): Promise<number> {
  const file = await step(createFile(path));
  try {
    let bytes = 0;
    for await (const pieces of gathered(untilAborted(body, signal))) {
      bytes += pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
      await step(writeAll(file, pieces));
      if (ownsPieces) pieces.forEach(free);
    }
    await step(file.sync());
    signal?.throwIfAborted();
    return bytes;
  } finally {
    await file.close();
  }
}

/** Many small writes would each cost a thread's turn; the pieces are gathered while there is little of them. */
async function* gathered(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array[]> {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    pieces.push(piece);
    bytes += piece.byteLength;
    if (bytes < WRITE_BYTES) continue;
    yield pieces;
    [pieces, bytes] = [[], 0];
  }
  if (bytes > 0) yield pieces;
}

async function writeAll(file: FileHandle, pieces: Uint8Array[]): Promise<void> {
  await drillPoint("directory store: pieces about to be written");
  let { bytesWritten: left } = await file.writev(pieces);
  // A disk that is nearly full takes a part.
  for (const piece of pieces) {
    const written = Math.min(left, piece.byteLength);
    if (written < piece.byteLength) await file.writeFile(piece.subarray(written));
    left -= written;
  }
}

async function createFile(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return open(path, "wx", 0o600);
}

/** A folder that is missing, or a full or broken disk, is an outage of the store; only an existing object is a conflict. */
async function step<T>(operation: Promise<T>): Promise<T> {
  try {
    return await within(STEP_TIMEOUT_MS, operation);
  } catch (error) {
    if (error instanceof DomainError && error.code === "not_found") throw unavailable(error.cause);
    throw error;
  }
}

async function publish(temporary: string, { folder, path }: Target, ifAbsent: boolean): Promise<void> {
  const parent = dirname(path);
  const firstMade = await mkdir(parent, { recursive: true, mode: 0o700 });
  if (ifAbsent) {
    await link(temporary, path);
    await unlink(temporary);
  } else {
    await rename(temporary, path);
  }
  await syncFolder(parent);
  // A new folder is durable only once its own entry is: one level above for each that may have been made.
  if (firstMade !== undefined) {
    await syncFolder(dirname(parent));
    await syncFolder(folder);
  }
}

/** Makes the names in it durable: those that were made, renamed or removed. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function openFile(path: string, { start = 0, end, signal }: GetOptions): Promise<Readable> {
  signal?.throwIfAborted();
  const file = await within(STEP_TIMEOUT_MS, open(path, "r"));
  try {
    const { size } = await within(STEP_TIMEOUT_MS, file.stat());
    if (start > 0 && start >= size)
      throw new DomainError("range_not_satisfiable", "The range starts behind the object's end.");
    return streamOf(readPieces(file, start, Math.min(end ?? size, size)), {
      signal,
      close: () => file.close(),
    });
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function* readPieces(file: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  for (let position = start; position < end;) {
    const length = Math.min(READ_BYTES, end - position);
    const { bytesRead, buffer } = await within(
      STEP_TIMEOUT_MS,
      file.read(Buffer.allocUnsafe(length), 0, length, position),
    );
    if (bytesRead === 0) throw unavailable(new Error("The file became shorter while it was read."));
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

async function removeFile(path: string): Promise<void> {
  await within(STEP_TIMEOUT_MS, unlink(path)).catch(ignoreNotFound);
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

const isNotFound = (error: unknown): boolean => error instanceof DomainError && error.code === "not_found";

/**
 * An object that is missing because the whole folder is, such as a disk that is not mounted, is an outage: what was "deleted" then would
 * be back with the disk. The first put makes the folder of unfinished files, and nothing removes it.
 */
async function whileMounted<T>(folder: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await step(stat(join(folder, TEMPORARY)));
    // The disk may have come back in between.
    return operation();
  }
}

async function listFiles(
  folder: string,
  prefix: string,
  { after = "", limit }: ListOptions,
): Promise<ListedObject[]> {
  const found: ListedObject[] = [];
  for await (const name of walk({ folder, prefix, after }, "", 3)) {
    if (!isListed(prefix, name)) continue;
    const path = join(folder, name);
    // A file that was deleted since its folder was read is simply not listed.
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

/** Names in byte order: all parts of a name have fixed lengths, so sorting each folder sorts the whole. */
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

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

async function sweep(folder: string, olderThanMs: number): Promise<number> {
  const before = Date.now() - olderThanMs;
  let removed = 0;
  for (const entry of (await within(STEP_TIMEOUT_MS, readdir(folder).catch(absent))) ?? []) {
    const path = join(folder, entry);
    const stats = await within(STEP_TIMEOUT_MS, stat(path).catch(absent));
    if (stats === undefined || stats.mtimeMs > before) continue;
    await removeFile(path);
    removed += 1;
  }
  return removed;
}
