/** What an object store does, what its objects are called, and how its failures are classed. */
import { addAbortSignal, Readable } from "node:stream";
import { ANCHOR_NAME } from "../domain/anchor.ts";
import { starvedError, stoodStill } from "../process/standstill.ts";
import { DomainError } from "../domain/errors.ts";
import { UUID_PATTERN } from "../domain/ids.ts";
import { insufficientStorage } from "./disk-space.ts";

export interface PutOptions {
  /** Ends the write; nothing of the object is kept. */
  readonly signal?: AbortSignal | undefined;
  /** Refuses with `conflict` if an object of that name exists. False by default: the object is replaced. */
  readonly ifAbsent?: boolean | undefined;
  /** The store may free the memory of the body's pieces after it has written them. False by default. */
  readonly ownsPieces?: boolean | undefined;
}

export interface GetOptions {
  /** First byte, inclusive; 0 if absent. */
  readonly start?: number | undefined;
  /** Byte after the last one, exclusive as in `Array.slice`; the object's end if absent. */
  readonly end?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ListOptions {
  /** Lists names after this one in byte order: the last name of the page before. */
  readonly after?: string | undefined;
  /** At most this many, 1–1000. */
  readonly limit: number;
}

export interface ListedObject {
  readonly name: string;
  readonly updatedAt: Date;
}

/**
 * Bytes under opaque names. Every operation throws `storage_unavailable` if the store is down or too slow,
 * `insufficient_storage` if its disk is full, an error of the body as it is, and the signal's reason after it
 * is aborted.
 *
 * @example `test/storage/object-store.test.ts` holds every store to this.
 */
export interface ObjectStore {
  /** Stores the whole body or nothing; no reader sees a part of it. @returns the bytes that were stored. */
  put(name: string, body: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<{ bytes: number }>;
  /** Resolves when the object is open. @throws `not_found`; `range_not_satisfiable` past the end. */
  get(name: string, options?: GetOptions): Promise<Readable>;
  /** Bytes stored. @throws `not_found`. */
  size(name: string): Promise<number>;
  /** Idempotent: no error if there is no such object. */
  delete(name: string): Promise<void>;
  /**
   * Objects whose names start with `prefix`, in byte order; fewer than `limit` only if there are no more.
   * With a prefix, names that Holdfast never gives are left out.
   */
  list(prefix: string, options: ListOptions): Promise<ListedObject[]>;
  /** Removes what broken writes left, if it has not changed for this long. @returns how many were removed. */
  removeUnfinished(olderThanMs: number): Promise<number>;
  /**
   * Shows that the server or folder behind the store keeps these promises; absent if a store depends on
   * neither.
   *
   * @throws UnfitStoreError if it does not, or if its settings cannot be used.
   */
  prove?(): Promise<void>;
}

/** A store that must not be used as it is; the message says in one line which setting is wrong and why. */
export class UnfitStoreError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "UnfitStoreError";
  }
}

const OBJECT_NAME = new RegExp(`^(${UUID_PATTERN})/[0-9a-f]{2}/${UUID_PATTERN}$`);
const PREFIX = /^(?:[0-9a-f-]+(?:\/[0-9a-f-]*){0,2}|anchors\/[0-9TZjws./-]*)?$/;

/**
 * The name of an object: `<organization_id>/<xx>/<id>`, with both ids as UUIDs in lower case. `xx` is the
 * id's end, since the start of a UUIDv7 is the time and would put all new objects into one folder.
 */
export function objectName(organizationId: string, id: string): string {
  return assertObjectName(`${organizationId}/${id.slice(-2)}/${id}`);
}

/** Returns the name. Holdfast makes all names: a wrong one is a bug (`internal`) and reaches no path. */
function assertObjectName(name: string): string {
  if (!OBJECT_NAME.test(name)) throw new DomainError("internal", "Not an object name.");
  return name;
}

/** Like {@link assertObjectName}, but also takes anchors, which belong to no organization. */
export function assertStoredName(name: string): string {
  return ANCHOR_NAME.test(name) ? name : assertObjectName(name);
}

/** Whether Holdfast could have given the name. */
export function isStoredName(name: string): boolean {
  return ANCHOR_NAME.test(name) || OBJECT_NAME.test(name);
}

export function organizationOf(name: string): string {
  return assertObjectName(name).slice(0, 36);
}

export function assertPrefix(prefix: string): string {
  if (!PREFIX.test(prefix)) throw new DomainError("internal", "Not a prefix of object names.");
  return prefix;
}

/** The disk is full, or a quota is used up. */
const FULL_CODES = new Set<unknown>(["ENOSPC", "EDQUOT"]);
const OUTAGE_MESSAGES = /premature close|socket hang up|network|timed? ?out|fetch failed|terminated/i;
/** What Google's client says about uploads and downloads that it gave up. */
const GOOGLE_OUTAGE_MESSAGES = /retry limit|offset is lower|CONTENT_DOWNLOAD_MISMATCH|FILE_NO_UPLOAD/i;
const OUTAGE_CODES = new Set([
  "EIO",
  "EACCES",
  "EPERM",
  "EROFS",
  "EMFILE",
  "ENFILE",
  "EBUSY",
  "ENOMEM",
  "ESTALE",
  "ENODEV",
  "ENXIO",
  "ENOTDIR",
  "ECONNRESET",
  "ECONNREFUSED",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "ERR_STREAM_PREMATURE_CLOSE",
  "UND_ERR_SOCKET",
]);

/** A store's failure as a {@link DomainError}; any other error as it is. */
export function storageError(error: unknown): unknown {
  // Google's client throws plain objects, which are no instances of Error, for some answers.
  if (typeof error !== "object" || error === null || error instanceof DomainError) return error;
  const { code, status, message } = error as { code?: unknown; status?: unknown; message?: unknown };
  const http = httpStatus(code) ?? httpStatus(status);
  if (code === "ENOENT" || http === 404)
    return new DomainError("not_found", "The object does not exist.", { cause: error });
  if (code === "EEXIST" || http === 412)
    return new DomainError("conflict", "The object exists already.", { cause: error });
  if (http === 416)
    return new DomainError("range_not_satisfiable", "The range starts behind the object's end.", {
      cause: error,
    });
  if (FULL_CODES.has(code)) return insufficientStorage(error);
  if (isOutage(String(message), code, http)) return unavailable(error);
  return error;
}

function httpStatus(value: unknown): number | undefined {
  const status = typeof value === "string" ? Number(value) : value;
  return typeof status === "number" && status >= 400 && status < 600 ? status : undefined;
}

/** Refused credentials count as an outage: an operator can correct them, and work should wait until then. */
function isOutage(message: string, code: unknown, http: number | undefined): boolean {
  if (http !== undefined) return http >= 500 || [401, 403, 408, 429].includes(http);
  if (typeof code === "string" && OUTAGE_CODES.has(code)) return true;
  return OUTAGE_MESSAGES.test(message) || GOOGLE_OUTAGE_MESSAGES.test(message);
}

export function unavailable(cause?: unknown): DomainError {
  return new DomainError("storage_unavailable", "The object store is not available.", {
    retryAfterSeconds: 5,
    cause,
  });
}

/**
 * The operation's result, with its failure as {@link storageError} classes it; `storage_unavailable` after
 * `ms` milliseconds, or `starved` if this process itself stood still. The operation itself goes on, since
 * most cannot be stopped.
 */
export async function within<T>(ms: number, operation: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const cause = new Error(`No answer within ${ms} ms.`);
    reject(stoodStill(ms) ? starvedError(cause) : unavailable(cause));
  }, ms);
  try {
    return await Promise.race([operation, late]);
  } catch (error) {
    throw storageError(error);
  } finally {
    clearTimeout(timer);
  }
}

/** The same pieces. Once the signal is aborted its reason is thrown, even if the source is silent. */
export async function* untilAborted(
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  if (signal === undefined) return yield* source;
  const iterator = source[Symbol.asyncIterator]();
  // A Promise.race of each piece with one abort promise would keep every piece in memory.
  let interrupt: ((reason: unknown) => void) | undefined;
  const abort = (): void => interrupt?.(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  let ended = false;
  try {
    for (;;) {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<Uint8Array, unknown>>();
      interrupt = reject;
      iterator.next().then(resolve, reject);
      const step = await promise;
      if (step.done === true) {
        ended = true;
        return;
      }
      yield step.value;
    }
  } finally {
    signal.removeEventListener("abort", abort);
    // Not awaited: a generator that hangs in its own next() would never answer.
    if (!ended) iterator.return?.().catch(() => {});
  }
}

/**
 * Gives a piece's memory back at once, unless it shares that with others. Left to the garbage collector,
 * every 20 MB cost a collection of the whole heap, which takes tens of milliseconds.
 */
export function free({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

interface StreamOptions {
  readonly signal?: AbortSignal | undefined;
  /** Frees what the pieces are read from; called exactly once, however the stream ends. */
  readonly close: () => Promise<unknown>;
}

/** A stream that pulls one piece at a time, and frees its source even if nobody ever read from it. */
export function streamOf(pieces: AsyncIterable<Uint8Array>, { signal, close }: StreamOptions): Readable {
  const stream = Readable.from(pieces, { objectMode: false, highWaterMark: 1 });
  const destroy = stream._destroy.bind(stream);
  // A generator that was never started runs no finally block, so the stream frees the source. This also ends
  // a generator that waits for a piece: its source then answers at once that none will come.
  stream._destroy = (error, ended) => {
    void close().catch(() => {});
    destroy(error, ended);
  };
  // The stream keeps an error for a later reader; without a listener it would end the process.
  stream.on("error", () => {});
  return signal === undefined ? stream : addAbortSignal(signal, stream);
}
