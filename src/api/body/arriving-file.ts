/** The file of a form while it arrives: its first bytes, and a stream of the whole. */
import { Readable } from "node:stream";
import { DomainError } from "../../domain/errors.ts";

const HEAD_BYTES = 64 * 1024;
const BUFFER_BYTES = 256 * 1024;

export interface ArrivingFile {
  /** Cleaned by cleanFilename of part-header.ts. */
  readonly filename: string;
  /** As the client states it. */
  readonly contentType: string;
  /** The first bytes, at most 64 KiB; the whole of a smaller file. */
  readonly head: Buffer;
  /** The whole file, its head included. Fails if the upload fails. */
  readonly stream: Readable;
  /** Aborted if the upload fails, even after the file itself has come. */
  readonly signal: AbortSignal;
}

interface OpenedFile {
  /** Resolves with at most 64 KiB; rejects if the upload fails before. */
  readonly head: Promise<Buffer>;
  readonly stream: Readable;
  /** The bytes that have arrived. */
  size(): number;
}

interface Bounds {
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  /** Bytes as the headers of its part state them. */
  readonly statedBytes: number | undefined;
  /** Ends the upload of a file that is larger than that, once its size is known. */
  readonly tooLarge: (bytes: number) => void;
}

/**
 * Makes a stream of the file's part. `part` is never read by iteration: leaving a loop would destroy it, and
 * a destroyed part stops the parser, and with it the request, for good.
 */
export function openFile(part: Readable, bounds: Bounds): OpenedFile {
  const { signal, maxBytes, statedBytes = 0, tooLarge } = bounds;
  const begun = Promise.withResolvers<Buffer>();
  const stream = streamOf(part);
  let size = 0;
  /** Undefined once the head is complete. */
  let head: Buffer[] | undefined = [];

  const push = (piece: Buffer): void => {
    if (!stream.destroyed && !stream.push(piece)) part.pause();
  };
  const begin = (): void => {
    const first = Buffer.concat(head ?? []);
    head = undefined;
    if (first.byteLength > 0) push(first);
    begun.resolve(first.subarray(0, HEAD_BYTES));
  };
  part.on("data", (piece: Buffer) => {
    size += piece.byteLength;
    if (size > maxBytes) {
      // Without a statement the rest is counted, and dropped.
      if (statedBytes > maxBytes) tooLarge(statedBytes);
      return;
    }
    if (head === undefined) return push(piece);
    head.push(piece);
    if (size >= HEAD_BYTES) begin();
  });
  part.on("end", () => {
    if (size > maxBytes) return tooLarge(size);
    if (head !== undefined) begin();
    if (!stream.destroyed) stream.push(null);
  });
  const stop = (): void => {
    begun.reject(signal.reason);
    const isError = signal.reason instanceof Error;
    stream.destroy(isError ? signal.reason : new DomainError("cancelled", "The upload was cancelled."));
  };
  signal.addEventListener("abort", stop, { once: true });
  return { head: begun.promise, stream, size: () => size };
}

/** A stream that lets the part flow when read, and also when destroyed: the rest is dropped then. */
function streamOf(part: Readable): Readable {
  const stream = new Readable({
    highWaterMark: BUFFER_BYTES,
    read() {
      part.resume();
    },
    destroy(error, done) {
      part.resume();
      done(error);
    },
  });
  return stream.on("error", () => {});
}
