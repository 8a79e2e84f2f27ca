/**
 * The only place that keeps log files of parts from growing for ever. Parts write into them by themselves, so that a line needs nobody
 * else to run; hence a file is copied and cut, as by logrotate's `copytruncate`: lines written between the two, within a millisecond or
 * two, are lost.
 */
import { copyFile, rename, rm, stat, truncate } from "node:fs/promises";

const MAX_BYTES = 20_000_000;
/** Of each log: `name.log.1` is the youngest. */
const KEPT = 3;
const LOOK_EVERY_MS = 10_000;

/** Looks at the file until it is told to stop. @returns what stops it. */
export function keepBounded(
  path: string,
  { maxBytes = MAX_BYTES, everyMs = LOOK_EVERY_MS } = {},
): () => void {
  let rotating: Promise<void> | undefined;
  const look = (): void => {
    // A disk that is full or gone is no reason to end what writes there; the next look tries again.
    rotating ??= rotate(path, maxBytes)
      .catch(() => undefined)
      .finally(() => (rotating = undefined));
  };
  const timer = setInterval(look, everyMs).unref();
  return () => clearInterval(timer);
}

/** Where the file is longer than it may be, what is in it becomes `.1`, and what was `.1` becomes `.2`; the oldest goes. Whoever has it open goes on writing at its beginning. */
export async function rotate(path: string, maxBytes: number = MAX_BYTES): Promise<void> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size <= maxBytes) return;
  await rm(`${path}.${KEPT}`, { force: true });
  for (let age = KEPT - 1; age >= 1; age -= 1)
    await rename(`${path}.${age}`, `${path}.${age + 1}`).catch(ignoreMissing);
  // Without room for the copy the file is cut all the same: old lines are worth less than what still has to be written.
  await copyFile(path, `${path}.1`).catch(() => rm(`${path}.1`, { force: true }));
  await truncate(path);
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
}
