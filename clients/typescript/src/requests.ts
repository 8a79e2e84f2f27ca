/** Requests that are repeated while the service is not available, with growing waits. */
import { refusalOf } from "./errors.ts";

/**
 * Statuses after which the same request may succeed: the service or what it depends on is not available, or
 * it asks the client to wait.
 */
const TRY_AGAIN = new Set([429, 502, 503, 504]);
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

interface Answered<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

interface Persistence {
  readonly signal?: AbortSignal | undefined;
  /** How long one attempt may take until its answer has begun; without it as long as it takes. */
  readonly timeoutMs?: number;
  /** Statuses that are thrown although a later attempt may succeed. */
  readonly throws?: readonly number[];
}

/**
 * Repeats a request while the service is not available, as slowly as it asks for.
 * @param ask gets the signal that ends its attempt.
 * @throws HoldfastError for any other refusal
 * @throws the signal's reason if it is aborted
 */
export async function persist<T>(
  ask: (signal: AbortSignal) => Promise<Answered<T>>,
  { signal, timeoutMs, throws = [] }: Persistence,
): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    signal?.throwIfAborted();
    const answer = await attempt(ask, signal, timeoutMs);
    if (answer?.data !== undefined) return answer.data;
    const status = answer?.response.status ?? 0;
    if (answer !== undefined && (!TRY_AGAIN.has(status) || throws.includes(status)))
      throw refusalOf(status, answer.error);
    await wait(Math.max(askedMs(answer?.response), backoffMs(failures)), signal);
  }
}

/** @returns undefined if there was no answer and a later attempt may get one. */
async function attempt<T>(
  ask: (signal: AbortSignal) => Promise<Answered<T>>,
  signal: AbortSignal | undefined,
  timeoutMs: number | undefined,
): Promise<Answered<T> | undefined> {
  const ended = new AbortController();
  const onAbort = (): void => ended.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  let isLate = false;
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          isLate = true;
          ended.abort();
        }, timeoutMs);
  try {
    return await ask(ended.signal);
  } catch (fault) {
    signal?.throwIfAborted();
    // fetch throws a TypeError if the connection breaks; any other error is not temporary.
    if (isLate || fault instanceof TypeError) return undefined;
    throw fault;
  } finally {
    clearTimeout(timer);
    // A stream that was opened goes on, and ends with the caller's signal by what reads it.
    signal?.removeEventListener("abort", onAbort);
  }
}

/** How long the service asks to wait, and a little longer, so that not all clients come back at once. */
function askedMs(response: Response | undefined): number {
  const seconds = Number(response?.headers.get("retry-after") ?? 0);
  return seconds > 0 ? seconds * 1_000 + Math.random() * FIRST_WAIT_MS : 0;
}

/** The wait after so many failures in a row: it doubles up to 30 s, of which a random part is left out. */
export function backoffMs(failures: number): number {
  const ceiling = Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures, 16), LONGEST_WAIT_MS);
  return ceiling * (0.5 + Math.random() / 2);
}

/** @throws the signal's reason if it is aborted meanwhile. */
export async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
}
