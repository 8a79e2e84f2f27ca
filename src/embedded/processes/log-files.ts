/**
 * Rotates the log files of the parts. Each part writes into its file itself, so a file is copied and
 * truncated, as by logrotate's `copytruncate`; lines of the millisecond or two in between are lost.
 */
import { copyFile, rename, rm, stat, truncate } from "node:fs/promises";

const MAX_BYTES = 20_000_000;
/** How many rotated files are kept; `name.log.1` is the newest. */
const KEPT = 3;
const LOOK_EVERY_MS = 10_000;

/** Rotates the file whenever it has become too large. @returns a function that stops this. */
export function keepBounded(
  path: string,
  { maxBytes = MAX_BYTES, everyMs = LOOK_EVERY_MS } = {},
): () => void {
  let rotating: Promise<void> | undefined;
  const look = (): void => {
    // A full or missing disk is no reason to end the part; the next look tries again.
    rotating ??= rotate(path, maxBytes)
      .catch(() => undefined)
      .finally(() => {
        rotating = undefined;
      });
  };
  const timer = setInterval(look, everyMs).unref();
  return () => clearInterval(timer);
}

/** Moves a file larger than `maxBytes` to `.1`, `.1` to `.2`, and empties it. Open writers go on. */
export async function rotate(path: string, maxBytes: number = MAX_BYTES): Promise<void> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size <= maxBytes) return;
  await rm(`${path}.${KEPT}`, { force: true });
  for (let age = KEPT - 1; age >= 1; age -= 1)
    await rename(`${path}.${age}`, `${path}.${age + 1}`).catch(ignoreMissing);
  // Without room for the copy the file is truncated all the same: old lines matter less than new ones.
  await copyFile(path, `${path}.1`).catch(() => rm(`${path}.1`, { force: true }));
  await truncate(path);
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
}
