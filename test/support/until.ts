/** Waits for a condition in tests; a time-out reports the last error. */

const FIRST_POLL_MS = 20;
/**
 * The interval between two looks grows up to this, since each look costs the machine time that others need.
 */
const LONGEST_POLL_MS = 250;
const POLL_SHARE = 0.05;

/**
 * Calls `look` until it returns something other than undefined or false, and returns that.
 * @throws Error after `timeoutMs`; its cause is the last error of `look`, if there was one.
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 30_000,
): Promise<T> {
  const startedAt = Date.now();
  const deadline = startedAt + timeoutMs;
  let last: unknown;
  while (Date.now() < deadline) {
    try {
      const seen = await look();
      if (seen !== undefined && seen !== false) return seen;
    } catch (error) {
      last = error;
    }
    const pollMs = Math.min(LONGEST_POLL_MS, Math.max(FIRST_POLL_MS, (Date.now() - startedAt) * POLL_SHARE));
    await new Promise((resume) => setTimeout(resume, pollMs));
  }
  throw new Error(`${what} did not come true within ${timeoutMs} ms`, { cause: last });
}
