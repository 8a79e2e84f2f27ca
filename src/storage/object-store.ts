/** The only definition of what an object store does, of what its objects are called and of how its failures are classed. */
import { addAbortSignal, Readable } from "node:stream";
import { ANCHOR_NAME } from "../domain/anchor.ts";
import { DomainError } from "../domain/errors.ts";
import { insufficientStorage } from "./disk-space.ts";

export interface PutOptions {
  /** Ends the write; nothing of the object stays. */
  readonly signal?: AbortSignal | undefined;
  /** Refuses with `conflict` where an object of that name exists. */
  readonly ifAbsent?: boolean | undefined;
  /** The body's pieces are the store's own: it may free their memory once they are written. */
  readonly ownsPieces?: boolean | undefined;
}

export interface GetOptions {
  /** First byte, inclusive; 0 where absent. */
  readonly start?: number | undefined;
  /** Byte after the last one, exclusive as in `Array.slice`; the object's end where absent. */
  readonly end?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ListOptions {
  /** Only names behind this one, in byte order: the last name of the page before. */
  readonly after?: string | undefined;
  /** At most this many, 1–1000. */
  readonly limit: number;
}

export interface ListedObject {
  readonly name: string;
  readonly updatedAt: Date;
}

/**
 * Bytes under opaque names. Every operation throws `storage_unavailable` where the store is down or too slow, `insufficient_storage`
 * where its disk is full, an error of the body as it is, and the signal's reason once it is aborted.
 */
export interface ObjectStore {
  /** Stores the whole body or nothing; a reader never sees a part of it. `bytes` is what was stored. */
  put(name: string, body: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<{ bytes: number }>;
  /** Resolves once the object is open. Throws `not_found`, or `range_not_satisfiable` for a start behind the end. */
  get(name: string, options?: GetOptions): Promise<Readable>;
  /** Bytes stored. Throws `not_found`. */
  size(name: string): Promise<number>;
  /** Idempotent: an object that is not there is no error. */
  delete(name: string): Promise<void>;
  /** Names that start with `prefix`, in byte order; fewer than `limit` only where there are no more. Below a prefix, names that Holdfast never gives are left out. */
  list(prefix: string, options: ListOptions): Promise<ListedObject[]>;
  /** Removes what writes that broke off left behind and nobody has touched for so long. @returns how many. */
  removeUnfinished(olderThanMs: number): Promise<number>;
  /**
   * Of stores whose promises hang on the server behind them: shows once that it keeps them.
   * @throws UnfitStoreError where it does not, or where the settings for it cannot be used.
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

const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const OBJECT_NAME = new RegExp(`^(${UUID})/[0-9a-f]{2}/${UUID}$`);
const PREFIX = /^(?:[0-9a-f-]+(?:\/[0-9a-f-]*){0,2}|anchors\/[0-9TZjws./-]*)?$/;

/**
 * The name of an object: `<organization_id>/<xx>/<id>`. `xx` is the id's end, since the start of a UUIDv7 is the time and
 * would put all new objects into one folder. Both ids are UUIDs in lower case.
 */
export function objectName(organizationId: string, id: string): string {
  return assertObjectName(`${organizationId}/${id.slice(-2)}/${id}`);
}

/** The name as it is, or `internal`: names are made by us, so a wrong one is a bug and must never reach a path. */
function assertObjectName(name: string): string {
  if (!OBJECT_NAME.test(name)) throw new DomainError("internal", "Not an object name.");
  return name;
}

/** As {@link assertObjectName}, for what a store may hold: objects of organizations, and anchors of the audit log, which belong to none. */
export function assertStoredName(name: string): string {
  return ANCHOR_NAME.test(name) ? name : assertObjectName(name);
}

/** Whether Holdfast gives objects such names. */
export function isStoredName(name: string): boolean {
  return ANCHOR_NAME.test(name) || OBJECT_NAME.test(name);
}

/** The organization that an object's name belongs to. */
export function organizationOf(name: string): string {
  return assertObjectName(name).slice(0, 36);
}

export function assertPrefix(prefix: string): string {
  if (!PREFIX.test(prefix)) throw new DomainError("internal", "Not a prefix of object names.");
  return prefix;
}

/** A disk or a quota that is full. */
const FULL_CODES = new Set<unknown>(["ENOSPC", "EDQUOT"]);
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

/** A store's own failure as a {@link DomainError}; what is nobody's outage comes back as it was. */
export function storageError(error: unknown): unknown {
  // Not only of class Error: Google's client throws plain objects for some answers.
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

/** Refused credentials count as an outage: somebody mends them, and the work behind the store should wait until then. */
function isOutage(message: string, code: unknown, http: number | undefined): boolean {
  if (http !== undefined) return http >= 500 || [401, 403, 408, 429].includes(http);
  if (typeof code === "string" && OUTAGE_CODES.has(code)) return true;
  return /premature close|socket hang up|network|timed? ?out|retry limit|fetch failed|terminated|offset is lower|CONTENT_DOWNLOAD_MISMATCH|FILE_NO_UPLOAD/i.test(
    message,
  );
}

export function unavailable(cause?: unknown): DomainError {
  return new DomainError("storage_unavailable", "The object store is not available.", {
    retryAfterSeconds: 5,
    cause,
  });
}

/** What the promise gives, or `storage_unavailable` after `ms` milliseconds. The operation itself may go on: most cannot be stopped. */
export async function within<T>(ms: number, operation: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(unavailable(new Error(`No answer within ${ms} ms.`))), ms);
  try {
    return await Promise.race([operation, late]);
  } catch (error) {
    throw storageError(error);
  } finally {
    clearTimeout(timer);
  }
}

/** The same pieces, until the signal is aborted: then its reason is thrown, even while the source is silent. */
export async function* untilAborted(
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  if (signal === undefined) return yield* source;
  const iterator = source[Symbol.asyncIterator]();
  // Not Promise.race with one promise for the abort: that would hold on to every piece until the end.
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
 * Gives memory back at once: left to the garbage collector, each 20 MB or so of it costs a collection of the whole heap, which stops the
 * process for tens of milliseconds. What shares its memory with others keeps it.
 */
export function free({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

interface StreamOptions {
  readonly signal?: AbortSignal | undefined;
  /** Frees what the pieces are read from; called once, however the stream ends. */
  readonly close: () => Promise<unknown>;
}

/** A stream that pulls one piece at a time and frees its source even where nobody ever read from it. */
export function streamOf(pieces: AsyncIterable<Uint8Array>, { signal, close }: StreamOptions): Readable {
  const stream = Readable.from(pieces, { objectMode: false, highWaterMark: 1 });
  const destroy = stream._destroy.bind(stream);
  // A generator that was never started runs no finally block, so freeing is tied to the stream. One that waits for a piece ends the stream only
  // once that has come: freed here, its source says at once that none comes.
  stream._destroy = (error, ended) => {
    void close().catch(() => {});
    destroy(error, ended);
  };
  // An error before the first reader came is kept by the stream for it; without a listener it would end the process.
  stream.on("error", () => {});
  return signal === undefined ? stream : addAbortSignal(signal, stream);
}
