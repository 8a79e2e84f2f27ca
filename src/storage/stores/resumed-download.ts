/** Downloads from any store, and continues at the byte where a connection was cut or fell silent. */
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { DomainError } from "../../domain/errors.ts";
import { type GetOptions, storageError, streamOf, within } from "../object-store.ts";

const MAX_RETRIES = 3;
const FIRST_RETRY_MS = 100;

/**
 * Opens the object's bytes in `range`, written as in the HTTP header; all of them if it is undefined. What
 * was opened is freed when `signal` is aborted.
 *
 * @throws what {@link ObjectStore.get} throws.
 */
export type OpenBody = (range: string | undefined, signal: AbortSignal) => Promise<AsyncIterator<Uint8Array>>;

export interface Download {
  readonly open: OpenBody;
  /** Bytes of the object; asked for an empty range. */
  readonly size: () => Promise<number>;
  /** Milliseconds without a byte after which a download is continued on another connection. */
  readonly stallMs: number;
}

/**
 * As {@link ObjectStore.get}. The store's checksums are not compared: they are of whole objects, and
 * `storage.ts` authenticates every segment.
 *
 * @example `test/storage/stores/resumed-download.test.ts`
 */
export async function download(
  { open, size, stallMs }: Download,
  { start = 0, end, signal }: GetOptions,
): Promise<Readable> {
  signal?.throwIfAborted();
  if (end !== undefined && end <= start) {
    const bytes = await size();
    if (start > 0 && start >= bytes) throw storageError({ code: 416 });
    return Readable.from([], { objectMode: false });
  }
  const source = createSource(open, stallMs, { start, end });
  const first = await source.next();
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let step = first; step.done !== true; step = await source.next()) yield step.value;
  }
  return streamOf(pieces(), { signal, close: async () => source.close() });
}

interface Source {
  next(): Promise<IteratorResult<Uint8Array, undefined>>;
  /** Ends the download; a `next` that waits throws. */
  close(): void;
}

interface Range {
  readonly start: number;
  readonly end: number | undefined;
}

function createSource(open: OpenBody, stallMs: number, { start, end }: Range): Source {
  let position = start;
  let failures = 0;
  let abort = new AbortController();
  let body: AsyncIterator<Uint8Array> | undefined;
  let isClosed = false;

  async function next(): Promise<IteratorResult<Uint8Array, undefined>> {
    for (;;) {
      try {
        body ??= await within(stallMs, open(rangeHeader(position, end), abort.signal));
        const step = await within(stallMs, body.next());
        if (step.done === true) return { done: true, value: undefined };
        position += step.value.byteLength;
        failures = 0;
        return { done: false, value: step.value };
      } catch (error) {
        cut();
        // The connection was cut exactly at the object's end, or the object is empty.
        if (hasCode(error, "range_not_satisfiable") && (position > start || start === 0))
          return { done: true, value: undefined };
        failures += 1;
        if (isClosed || !hasCode(error, "storage_unavailable") || failures > MAX_RETRIES) throw error;
        await sleep(FIRST_RETRY_MS * 2 ** failures);
        if (isClosed) throw error;
        abort = new AbortController();
      }
    }
  }

  function cut(): void {
    body = undefined;
    abort.abort();
  }

  function close(): void {
    isClosed = true;
    cut();
  }

  return { next, close };
}

function rangeHeader(start: number, end: number | undefined): string | undefined {
  return start === 0 && end === undefined ? undefined : `bytes=${start}-${end === undefined ? "" : end - 1}`;
}

function hasCode(error: unknown, code: DomainError["code"]): boolean {
  return error instanceof DomainError && error.code === code;
}
