/** Requests that are repeated while the service is not available, with growing waits. */
import { ConnectionError, refusalOf } from "./errors.ts";

/**
 * Statuses after which the same request may succeed: the service or what it depends on is not available, or
 * it asks the client to wait.
 */
const TRY_AGAIN = new Set([408, 429, 502, 503, 504]);
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** A service that asks for more is not waited for: a budget that is used up says when the month ends. */
const LONGEST_ASKED_MS = 60_000;

interface Answered<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

export interface Persistence {
  readonly signal?: AbortSignal | undefined;
  /** How often the request is repeated; without it as often as it takes. */
  readonly maxRetries?: number | undefined;
  /**
   * Of `maxRetries`, those count after which there was no answer; a service that asks to wait is waited for.
   */
  readonly countsSilenceOnly?: boolean;
  /** How long one attempt may take until its answer has begun; without it as long as it takes. */
  readonly timeoutMs?: number | undefined;
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
  persistence: Persistence,
): Promise<T> {
  const { data, error, response } = await repeat(ask, persistence);
  // The answer of a 204 has no data.
  if (data === undefined && !response.ok) throw refusalOf(response, error);
  return data as T;
}

/**
 * @returns the last answer, whatever its status
 * @throws ConnectionError if the last attempt had none
 */
export async function repeat<T extends { readonly response: Response }>(
  ask: (signal: AbortSignal) => Promise<T>,
  { signal, timeoutMs, throws = [], maxRetries = Infinity, countsSilenceOnly }: Persistence,
): Promise<T> {
  let counted = 0;
  for (let failures = 0; ; failures += 1) {
    signal?.throwIfAborted();
    const answer = await attempt(ask, signal, timeoutMs);
    if (!isTemporary(answer, throws)) return orThrow(answer);
    if (answer instanceof ConnectionError || !countsSilenceOnly) counted += 1;
    const asked = askedMs(answer);
    const longest = maxRetries === Infinity ? Infinity : LONGEST_ASKED_MS;
    if (counted > maxRetries || asked > longest) return orThrow(answer);
    await wait(Math.max(Math.min(asked, LONGEST_ASKED_MS), backoffMs(failures)), signal);
  }
}

type Attempted = { readonly response: Response } | ConnectionError;

function orThrow<T>(answer: T | ConnectionError): T {
  if (answer instanceof ConnectionError) throw answer;
  return answer;
}

function isTemporary(answer: Attempted, throws: readonly number[]): boolean {
  if (answer instanceof ConnectionError) return true;
  const { status, headers } = answer.response;
  // A provider that refuses a question refuses it again.
  if (headers.get("x-should-retry") === "false") return false;
  return TRY_AGAIN.has(status) && !throws.includes(status);
}

/** @returns a ConnectionError if there was no answer and a later attempt may get one. */
async function attempt<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal | undefined,
  timeoutMs: number | undefined,
): Promise<T | ConnectionError> {
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
    if (isLate) return new ConnectionError(`There was no answer within ${timeoutMs} ms.`, { cause: fault });
    // fetch throws a TypeError if the connection breaks; any other error is not temporary.
    if (fault instanceof TypeError) return new ConnectionError(describeFault(fault), { cause: fault });
    throw fault;
  } finally {
    clearTimeout(timer);
    // A stream that was opened goes on, and ends with the caller's signal by what reads it.
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Node's fetch says "fetch failed", and in its cause why: `connect ECONNREFUSED 127.0.0.1:8080`. */
function describeFault({ message, cause }: TypeError): string {
  const reason = cause instanceof Error && cause.message !== "" ? `${message}: ${cause.message}` : message;
  return `The service does not answer (${reason}).`;
}

/** How long the service asks to wait, and a little longer, so that not all clients come back at once. */
function askedMs(answer: Attempted): number {
  if (answer instanceof ConnectionError) return 0;
  const seconds = Number(answer.response.headers.get("retry-after") ?? 0);
  return seconds > 0 ? seconds * 1_000 + Math.random() * FIRST_WAIT_MS : 0;
}

/** The wait after so many failures in a row: it doubles up to 30 s, of which a random part is left out. */
export function backoffMs(failures: number): number {
  const ceiling = Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures, 16), LONGEST_WAIT_MS);
  return ceiling * (0.5 + Math.random() / 2);
}

/**
 * An Idempotency-Key. `crypto.randomUUID` is missing in pages that are not served over https.
 */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
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
