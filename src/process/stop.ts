/** How a process is told to stop: at once while it starts, in order afterwards, and never without an end. */
import { flushCompileCache } from "node:module";
import { describeFailure, isHopeless } from "../domain/expected-failure.ts";

const LONGEST_STOP_MS = 60_000;
const LONGEST_CLOSE_MS = 10_000;
/** EX_CONFIG of sysexits.h: what is wrong does not change by a restart, so that whoever supervises should not try again. */
export const HOPELESS_EXIT = 78;

export interface ProcessStop {
  /** Aborted by the first SIGTERM or SIGINT after {@link started}. */
  readonly signal: AbortSignal;
  /** From now on there is something to end in order. */
  started(): void;
}

/** Takes SIGTERM and SIGINT over. Until `started` is called they end the process: it has accepted nothing yet. */
export function watchSignals(): ProcessStop {
  const stop = new AbortController();
  let isStarted = false;
  for (const name of ["SIGTERM", "SIGINT"] as const) {
    process.once(name, () => {
      if (!isStarted) process.exit(0);
      stop.abort(new Error(name));
      // What still hangs then would hang for ever.
      setTimeout(() => process.exit(1), LONGEST_STOP_MS).unref();
    });
  }
  return {
    signal: stop.signal,
    started() {
      isStarted = true;
      // Node keeps compiled code when a process ends in order, if NODE_COMPILE_CACHE is set. One that is killed would leave
      // it to the next to compile everything again.
      flushCompileCache();
    },
  };
}

/**
 * Runs what a process is there for. A failure is printed on standard error, an expected one in a line without a stack, and ends the
 * process with exit code 1, or {@link HOPELESS_EXIT} where somebody must change something first.
 */
export async function runProcess(name: string, main: () => Promise<void>): Promise<void> {
  // What is said beside the log, by Node or a library, must not end a process whose output cannot be written, as on a disk that is full.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  try {
    await main();
  } catch (error) {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`holdfast ${name}: ${describeFailure(error) ?? `failed unexpectedly: ${stack}`}\n`);
    process.exit(isHopeless(error) ? HOPELESS_EXIT : 1);
  }
}

/**
 * Runs `work`, and closes `deps` where it fails: a thread that is cut while it loads a native library, as the embedding model's is at a
 * start, would end the process by SIGABRT, and its exit code would be lost. @throws what `work` does.
 */
export async function closingOnFailure(
  deps: { close(): Promise<void> },
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    // Whatever this says too, what came first is what somebody has to know.
    const closed = deps.close().catch(() => undefined);
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, LONGEST_CLOSE_MS))]);
    throw error;
  }
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
