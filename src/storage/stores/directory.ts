/** The object store over a folder: each object is a file that appears whole, by rename, or not at all. */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { access, link, mkdir, open, readdir, rename, stat, unlink } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { DomainError } from "../../domain/errors.ts";
import { drillPoint } from "../../telemetry/drill-point.ts";
import { STEP_TIMEOUT_MS, absent, listFiles } from "./directory-list.ts";
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
import type { GetOptions, ObjectStore, PutOptions } from "../object-store.ts";

const READ_BYTES = 256 * 1024;
const WRITE_BYTES = 256 * 1024;
/** The folder of files that are being written. */
const TEMPORARY = ".tmp";

/**
 * Objects in files below `folder`, which the first `put` makes with mode 0700 if it does not exist.
 *
 * @example `test/storage/object-store.test.ts`
 */
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

/** Error codes of a wrong setting. Others are outages, such as a disk that is not mounted yet. */
const MISTAKES = new Set(["EACCES", "ENOTDIR", "EPERM"]);

/** Checks that this user may write in `folder`, or in the nearest folder above it that exists. */
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
        `DATA_DIR must be a folder that this user can write to: ${folder} cannot be used (${code})`,
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

/** Gathers small pieces, since each write occupies one of the few threads for files. */
async function* gathered(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array[]> {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    pieces.push(piece);
    bytes += piece.byteLength;
    if (bytes < WRITE_BYTES) continue;
    yield pieces;
    pieces = [];
    bytes = 0;
  }
  if (bytes > 0) yield pieces;
}

async function writeAll(file: FileHandle, pieces: Uint8Array[]): Promise<void> {
  await drillPoint("directory store: pieces about to be written");
  let { bytesWritten: left } = await file.writev(pieces);
  // A disk that is nearly full may take a part of the pieces.
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

/** Runs a step of a write. A missing folder or full disk is an outage; an existing object a conflict. */
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
  // A new folder is durable after the folder that contains it was synced, and two levels may be new.
  if (firstMade !== undefined) {
    await syncFolder(dirname(parent));
    await syncFolder(folder);
  }
}

/** Makes changes of the names in a folder durable: new, renamed and removed ones. */
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
 * Runs an operation that may throw `not_found`. If the whole folder is missing, such as a disk that is not
 * mounted, that is an outage instead: what was "deleted" meanwhile would be back with the disk. The folder of
 * unfinished files shows it, since the first put makes it and nothing removes it.
 */
async function whileMounted<T>(folder: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await step(stat(join(folder, TEMPORARY)));
    // The disk may have been mounted in between.
    return operation();
  }
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
