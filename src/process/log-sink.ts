/**
 * The only place that writes lines of the log. Pino's own destination ends the process at the first line that a full disk does not
 * take (ENOSPC, EIO), and is silent for good once a reader was gone (EPIPE); neither is worth the service.
 */
import { writeSync } from "node:fs";
import { logLinesDropped } from "../telemetry/instruments.ts";

/** A reader that is behind (EAGAIN) holds the process up for so long, once, until it reads again. */
const PATIENCE_MS = 1_000;
const PAUSE_MS = 10;

export interface LineSink {
  write(line: string): void;
}

type Write = (fd: number, bytes: Uint8Array) => number;

/** Writes whole lines to `fd`, in order. What cannot be written is dropped and counted; each line is tried anew. Never throws. */
export function lineSink(fd: number, write: Write = writeSync): LineSink {
  /** A line was cut off; what comes next begins one of its own. */
  let isCut = false;
  let isBehind = false;
  return {
    write(line) {
      const bytes = Buffer.from(isCut ? `\n${line}` : line);
      let written = 0;
      const deadline = performance.now() + PATIENCE_MS;
      while (written < bytes.length) {
        try {
          written += write(fd, bytes.subarray(written));
          isBehind = false;
        } catch (error) {
          const waits =
            error instanceof Error &&
            "code" in error &&
            error.code === "EAGAIN" &&
            !isBehind &&
            performance.now() < deadline;
          if (waits) {
            pause();
            continue;
          }
          isBehind = error instanceof Error && "code" in error && error.code === "EAGAIN";
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
