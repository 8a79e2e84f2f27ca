/** How tests wait: for a condition, with an end that says what was seen last. */

const POLL_MS = 20;

/** Calls `look` until it answers something other than undefined or false. @throws after `timeoutMs`, with the last error where there was one. */
export async function until<T>(what: string, look: () => Promise<T | undefined | false> | T | undefined | false, timeoutMs = 30_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let last: unknown;
  while (Date.now() < deadline) {
    try {
      const seen = await look();
      if (seen !== undefined && seen !== false) return seen;
    } catch (error) {
      last = error;
    }
    await new Promise((resume) => setTimeout(resume, POLL_MS));
  }
  throw new Error(`${what} did not come true within ${timeoutMs} ms`, { cause: last });
}
