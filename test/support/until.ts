/** How tests wait: for a condition, with an end that says what was seen last. */

const FIRST_POLL_MS = 20;
/** What is waited for long is looked for less often: a look costs the machine more than its answer is late. */
const LONGEST_POLL_MS = 250;
const POLL_SHARE = 0.05;

/** Calls `look` until it answers something other than undefined or false. @throws after `timeoutMs`, with the last error where there was one. */
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
