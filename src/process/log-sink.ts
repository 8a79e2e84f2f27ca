/**
 * Writes the lines of the log, and drops what cannot be written. Pino's own destination ends the process at a
 * line that a full disk refuses (ENOSPC, EIO), and falls silent once a reader was gone (EPIPE).
 */
import { writeSync } from "node:fs";
import { logLinesDropped } from "../telemetry/instruments.ts";

/** How long one line waits for a slow reader (EAGAIN). Lines after it wait only once it caught up. */
const PATIENCE_MS = 1_000;
const PAUSE_MS = 10;

export interface LineSink {
  write(line: string): void;
}

/**
 * Writes whole lines to `fd`, in order. A line that cannot be written is dropped and counted. Never throws.
 */
export function lineSink(fd: number, write: (fd: number, bytes: Uint8Array) => number = writeSync): LineSink {
  /** The last line was written in part; the next one begins with a line break. */
  let isCut = false;
  /** The reader was too slow for the last line, so no line waits for it. */
  let isReaderSlow = false;
  return {
    write(line) {
      const bytes = Buffer.from(isCut ? `\n${line}` : line);
      let written = 0;
      const deadline = performance.now() + PATIENCE_MS;
      while (written < bytes.length) {
        try {
          written += write(fd, bytes.subarray(written));
          isReaderSlow = false;
        } catch (error) {
          const isFull = error instanceof Error && "code" in error && error.code === "EAGAIN";
          if (isFull && !isReaderSlow && performance.now() < deadline) {
            pause();
            continue;
          }
          isReaderSlow = isFull;
          logLinesDropped.inc();
          isCut ||= written > 0;
          return;
        }
      }
      isCut = false;
    },
  };
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
}
