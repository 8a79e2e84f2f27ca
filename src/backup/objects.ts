/** Copies objects from a store into a backup and back, as streams and encrypted, with their hashes. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ANCHOR_PREFIX } from "../domain/anchor.ts";
import { DomainError } from "../domain/errors.ts";
import { settleAll } from "../process/concurrency/settle-all.ts";
import { ExpectedFailure } from "../domain/expected-failure.ts";
import { createDirectoryStore } from "../storage/stores/directory.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { IndexedObject } from "../schema/files/backup.ts";
import { INDEX, OBJECTS } from "./manifest.ts";

const A_PAGE = 1_000;
const AT_ONCE = 4;

export interface Copied {
  readonly count: number;
  readonly bytes: number;
}

type OnCopied = (objects: number) => void;

interface Saving {
  readonly onCopied: OnCopied;
  /** @throws ExpectedFailure if the folder's disk has too little room for more */
  readonly assertRoom: () => Promise<void>;
}

/** Copies objects and the audit log's anchors, and writes the index, without what is deleted meanwhile. */
export async function saveObjects(
  store: ObjectStore,
  folder: string,
  organizations: readonly string[],
  { onCopied, assertRoom }: Saving,
): Promise<Copied> {
  const target = createDirectoryStore(join(folder, OBJECTS));
  const index = await open(join(folder, INDEX), "wx", 0o600);
  let count = 0;
  let bytes = 0;
  try {
    for await (const names of pagesOf(store, [...organizations.map((id) => `${id}/`), ANCHOR_PREFIX])) {
      const copied = (
        await inOrder(names, (name) => assertRoom().then(() => saveObject(store, target, name)))
      ).filter((one) => one !== undefined);
      await index.writeFile(copied.map((one) => `${JSON.stringify(one)}\n`).join(""));
      count += copied.length;
      bytes += copied.reduce((sum, one) => sum + one.bytes, 0);
      onCopied(count);
    }
    await index.sync();
    return { count, bytes };
  } finally {
    await index.close();
  }
}

async function* pagesOf(store: ObjectStore, prefixes: readonly string[]): AsyncGenerator<string[]> {
  for (const prefix of prefixes) {
    for (let after = ""; ;) {
      const page = await store.list(prefix, { limit: A_PAGE, ...(after === "" ? {} : { after }) });
      yield page.map(({ name }) => name);
      if (page.length < A_PAGE) break;
      after = page.at(-1)!.name;
    }
  }
}

/** A few in parallel. */
async function inOrder<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (let from = 0; from < items.length; from += AT_ONCE)
    done.push(...(await settleAll(items.slice(from, from + AT_ONCE).map(work))));
  return done;
}

async function saveObject(
  store: ObjectStore,
  target: ObjectStore,
  name: string,
): Promise<IndexedObject | undefined> {
  const source = await store.get(name).catch(undefinedWhereAbsent);
  if (source === undefined) return undefined;
  const hash = createHash("sha256");
  async function* hashed(): AsyncGenerator<Uint8Array> {
    for await (const piece of source as AsyncIterable<Uint8Array>) {
      hash.update(piece);
      yield piece;
    }
  }
  const { bytes } = await target.put(name, hashed());
  return { name, bytes, sha256: hash.digest("hex") };
}

function undefinedWhereAbsent(error: unknown): undefined {
  if (!(error instanceof DomainError) || error.code !== "not_found") throw error;
}

/** Reads the index line by line. @throws ExpectedFailure for a line that is not valid */
async function* indexedObjects(folder: string): AsyncGenerator<IndexedObject> {
  for await (const line of createInterface({
    input: createReadStream(join(folder, INDEX)),
    crlfDelay: Infinity,
  }))
    yield indexedObject(line);
}

function indexedObject(line: string): IndexedObject {
  try {
    return IndexedObject.parse(JSON.parse(line));
  } catch (error) {
    throw new ExpectedFailure(`${INDEX} has a line that is not an index entry.`, error);
  }
}

async function eachObject(
  folder: string,
  work: (object: IndexedObject) => Promise<void>,
  onDone: OnCopied,
): Promise<Copied> {
  let batch: IndexedObject[] = [];
  let count = 0;
  let bytes = 0;
  const flush = async (): Promise<void> => {
    await settleAll(batch.map(work));
    count += batch.length;
    bytes += batch.reduce((sum, one) => sum + one.bytes, 0);
    batch = [];
    onDone(count);
  };
  for await (const object of indexedObjects(folder)) if (batch.push(object) === AT_ONCE) await flush();
  await flush();
  return { count, bytes };
}

/** Reads every object of the backup. @throws ExpectedFailure that names the first missing or changed one */
export async function checkObjects(folder: string, onDone: OnCopied): Promise<Copied> {
  const source = createDirectoryStore(join(folder, OBJECTS));
  return eachObject(folder, (object) => checkObject(source, object), onDone);
}

async function checkObject(source: ObjectStore, { name, bytes, sha256 }: IndexedObject): Promise<void> {
  const stream = await source.get(name).catch((error: unknown) => {
    throw new ExpectedFailure(`The object ${name} is missing from the backup or cannot be read.`, error);
  });
  const found = await contentOf(stream);
  if (found.bytes !== bytes || found.sha256 !== sha256)
    throw new ExpectedFailure(`The object ${name} in the backup was changed: its hash does not match.`);
}

async function contentOf(stream: Readable): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  await pipeline(stream, async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) {
      bytes += piece.byteLength;
      hash.update(piece);
    }
  });
  return { bytes, sha256: hash.digest("hex") };
}

/**
 * Puts every object of the backup into the store. Idempotent: an object that is there with the same hash is
 * left as it is, so that a repeat goes on where the last run stopped.
 * @throws ExpectedFailure if the store has a different object of the same name; nothing is replaced
 */
export async function restoreObjects(
  store: ObjectStore,
  folder: string,
  organizations: readonly string[],
  onDone: OnCopied,
): Promise<Copied> {
  const source = createDirectoryStore(join(folder, OBJECTS));
  // A store that was never written to, such as a new folder, cannot be asked for a single object.
  const isFresh = !(await hasAny(store, organizations));
  return eachObject(folder, (object) => restoreObject(store, source, { ...object, isFresh }), onDone);
}

async function hasAny(store: ObjectStore, organizations: readonly string[]): Promise<boolean> {
  for (const prefix of [...organizations.map((id) => `${id}/`), ANCHOR_PREFIX])
    if ((await store.list(prefix, { limit: 1 })).length > 0) return true;
  return false;
}

async function restoreObject(
  store: ObjectStore,
  source: ObjectStore,
  { name, bytes, sha256, isFresh }: IndexedObject & { readonly isFresh: boolean },
): Promise<void> {
  const present = isFresh ? undefined : await store.size(name).catch(undefinedWhereAbsent);
  if (present === undefined) {
    await store.put(name, await source.get(name), { ifAbsent: true });
    return;
  }
  const refuse = (what: string): never => {
    throw new ExpectedFailure(
      `The object store has another ${name}: ${what}. Restore into a store that is empty.`,
    );
  };
  if (present !== bytes) refuse(`of ${present} bytes, and not of ${bytes}`);
  if ((await contentOf(await store.get(name))).sha256 !== sha256)
    refuse("of as many bytes, with another hash");
}
