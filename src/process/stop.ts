/** Starts and stops a process: at once while it starts, in order afterwards, by force if that is slow. */
import { flushCompileCache } from "node:module";
import { describeFailure, isHopeless } from "../domain/expected-failure.ts";
import { errorFields } from "./error-fields.ts";

const LONGEST_STOP_MS = 60_000;
const LONGEST_CLOSE_MS = 10_000;
/**
 * EX_CONFIG of sysexits.h: a restart cannot help, so a supervisor should not try one.
 * @see https://man.openbsd.org/sysexits.3
 */
export const HOPELESS_EXIT = 78;

export interface ProcessStop {
  /** Aborted by the first SIGTERM or SIGINT after {@link started}. */
  readonly signal: AbortSignal;
  /** Call it once the process has work that must end in order. */
  started(): void;
}

/** Handles SIGTERM and SIGINT. Before `started` they end the process at once: it has no work yet. */
export function watchSignals(): ProcessStop {
  const stop = new AbortController();
  let isStarted = false;
  for (const name of ["SIGTERM", "SIGINT"] as const) {
    process.once(name, () => {
      if (!isStarted) process.exit(0);
      stop.abort(new Error(name));
      setTimeout(() => process.exit(1), LONGEST_STOP_MS).unref();
    });
  }
  return {
    signal: stop.signal,
    started() {
      isStarted = true;
      // With NODE_COMPILE_CACHE Node writes compiled code when a process exits in order. Written now, it is
      // there for the next start even if this process is killed.
      flushCompileCache();
    },
  };
}

/**
 * Runs the main function of a process. A failure is printed on standard error, an expected one as a line
 * without a stack, and ends the process with exit code 1, or {@link HOPELESS_EXIT} if a restart cannot help.
 */
export async function runProcess(name: string, main: () => Promise<void>): Promise<void> {
  // Node and libraries write warnings here. Without a handler a full disk would make one a crash.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  try {
    await main();
  } catch (error) {
    const found = describeFailure(error) ?? `failed unexpectedly: ${JSON.stringify(errorFields(error))}`;
    process.stderr.write(`holdfast ${name}: ${found}\n`);
    process.exit(isHopeless(error) ? HOPELESS_EXIT : 1);
  }
}

/**
 * Runs `work`, and closes `deps` if it fails, for at most ten seconds. Without that, a thread that is cut off
 * while it loads a native library, such as the embedding model's, would end the process by SIGABRT, and the
 * exit code would be lost.
 * @throws the error of `work`.
 */
export async function closingOnFailure<T>(
  deps: { close(): Promise<void> },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // An error of closing is dropped: the first error is the cause.
    const closed = deps.close().catch(() => undefined);
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, LONGEST_CLOSE_MS))]);
    throw error;
  }
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
