/** Stores and reads bytes in any object store, encrypted for one organization; this folder's entry. */
import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { DomainError } from "../domain/errors.ts";
import { inSpan } from "../telemetry/span.ts";
import { createByteReader } from "./stores/byte-reader.ts";
import {
  decryptRange,
  decryptSegments,
  encryptStream,
  HEADER_BYTES,
  openEnvelope,
  openRange,
  plainSize,
  readHeader,
} from "./keys/envelope.ts";
import type { Keyring } from "./keys/keyring.ts";
import { organizationOf, streamOf } from "./object-store.ts";
import type { ListedObject, ListOptions, ObjectStore } from "./object-store.ts";

interface StorePut {
  readonly organizationId: string;
  /** A new name of {@link objectName}. An existing object is never overwritten; it is a `conflict`. */
  readonly name: string;
  readonly body: AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal | undefined;
}

export interface StoredObject {
  /** Plaintext bytes. */
  readonly size: number;
  /** SHA-256 of the plaintext, in hex. */
  readonly sha256: string;
  /** Bytes of the encrypted object. */
  readonly storedBytes: number;
}

export interface StoreGet {
  readonly organizationId: string;
  readonly name: string;
  /** Plaintext bytes, `start` inclusive, `end` exclusive; the object's end if `end` is absent or after it. */
  readonly range?: { readonly start: number; readonly end?: number | undefined } | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Storage {
  /**
   * Stores the whole body or nothing, in constant memory.
   *
   * @throws what the body throws, `conflict`, `storage_unavailable`, `insufficient_storage`.
   */
  put(input: StorePut): Promise<StoredObject>;
  /**
   * Resolves when the object is open and its key is found, so that a missing object or deleted key
   * (`not_found`) and a range outside of the object (`range_not_satisfiable`) are known before the first
   * byte. The stream ends with `corrupt` if a segment was changed, moved or cut off. Destroy the stream to
   * stop.
   */
  get(input: StoreGet): Promise<Readable>;
  /** Id of the organization key of the object: a UUID in lower case. @throws `not_found`, `corrupt`. */
  keyId(name: string): Promise<string>;
  /** Plaintext bytes. @throws `not_found`. */
  size(name: string): Promise<number>;
  /** Idempotent: no error if there is no such object. */
  delete(name: string): Promise<void>;
  list(prefix: string, options: ListOptions): Promise<ListedObject[]>;
  /** Removes what broken writes left, if it has not changed for this long. @returns how many were removed. */
  removeUnfinished(olderThanMs: number): Promise<number>;
}

interface StorageParts {
  readonly store: ObjectStore;
  readonly keyring: Keyring;
  /**
   * Called before a write and after every {@link ROOM_STEP_BYTES} of it.
   * @throws DomainError `insufficient_storage` if no more may be written.
   */
  readonly assertRoom?: () => Promise<void>;
}

/** @example `test/storage/storage.test.ts` */
export function createStorage(parts: StorageParts): Storage {
  const { store } = parts;
  return {
    put: (input) => observed("put", () => putEncrypted(parts, input)),
    get: (input) =>
      observed("get", () =>
        input.range === undefined ? getWhole(parts, input) : getRange(parts, input, input.range),
      ),
    keyId: (name) =>
      observed("key id", async () => readHeader(await readHeaderBytes(store, name)).organizationKeyId),
    size: (name) => observed("size", async () => plainSize(await store.size(name))),
    delete: (name) => observed("delete", () => store.delete(name)),
    list: (prefix, options) => store.list(prefix, options),
    removeUnfinished: (olderThanMs) => store.removeUnfinished(olderThanMs),
  };
}

/** Runs `work` in a span. That of a get ends when the object is open: its bytes are read as needed. */
function observed<T>(operation: string, work: () => Promise<T>): Promise<T> {
  return inSpan(`store ${operation}`, { kind: "client" }, work);
}

/** Bytes that are written between two looks at the free space. */
const ROOM_STEP_BYTES = 16 * 1024 * 1024;

async function putEncrypted(
  { store, keyring, assertRoom }: StorageParts,
  { organizationId, name, body, signal }: StorePut,
): Promise<StoredObject> {
  assertOwner(organizationId, name);
  const organizationKey = await keyring.current(organizationId);
  const hash = createHash("sha256");
  let size = 0;
  let nextLook = ROOM_STEP_BYTES;
  await assertRoom?.();
  async function* measured(): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      if (size >= nextLook) {
        await assertRoom?.();
        nextLook += ROOM_STEP_BYTES;
      }
      hash.update(piece);
      size += piece.byteLength;
      yield piece;
    }
  }
  const encrypted = encryptStream(measured(), { organizationId, objectName: name, organizationKey });
  const { bytes } = await store.put(name, encrypted, { signal, ifAbsent: true, ownsPieces: true });
  return { size, sha256: hash.digest("hex"), storedBytes: bytes };
}

async function getWhole(
  { store, keyring }: StorageParts,
  { organizationId, name, signal }: StoreGet,
): Promise<Readable> {
  assertOwner(organizationId, name);
  const reader = createByteReader(await store.get(name, { signal }));
  try {
    const envelope = readHeader(await reader.take(HEADER_BYTES));
    const key = await keyring.byId(organizationId, envelope.organizationKeyId);
    const segments = openEnvelope(envelope, { organizationId, objectName: name }, key);
    return streamOf(decryptSegments(reader, segments), { signal, close: () => reader.close() });
  } catch (error) {
    await reader.close();
    throw error;
  }
}

async function getRange(
  { store, keyring }: StorageParts,
  input: StoreGet,
  range: NonNullable<StoreGet["range"]>,
): Promise<Readable> {
  const { organizationId, name, signal } = input;
  assertOwner(organizationId, name);
  const [storedBytes, header] = await Promise.all([store.size(name), readHeaderBytes(store, name, signal)]);
  const wanted = openRange(storedBytes, range);
  const envelope = readHeader(header);
  const key = await keyring.byId(organizationId, envelope.organizationKeyId);
  const segments = openEnvelope(envelope, { organizationId, objectName: name }, key);
  const reader = createByteReader(await store.get(name, { start: wanted.start, end: wanted.end, signal }));
  return streamOf(decryptRange(reader, segments, wanted), { signal, close: () => reader.close() });
}

async function readHeaderBytes(store: ObjectStore, name: string, signal?: AbortSignal): Promise<Buffer> {
  const reader = createByteReader(await store.get(name, { start: 0, end: HEADER_BYTES, signal }));
  try {
    return await reader.take(HEADER_BYTES);
  } finally {
    await reader.close();
  }
}

/** Another organization's object here is a bug that would mix tenants: it stops before any byte moves. */
function assertOwner(organizationId: string, name: string): void {
  if (organizationOf(name) !== organizationId)
    throw new DomainError("internal", "The object belongs to another organization.");
}
