/** Fetches a stored file, decrypted, for a parser process that has its turn. */
import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type TemporaryFolder, asUnwritable } from "../../process/temporary-folder.ts";
import type { Storage } from "../../storage/storage.ts";

export interface FetchParts {
  readonly storage: Storage;
  readonly temporary: TemporaryFolder;
}

interface Fetched {
  readonly organizationId: string;
  /** The object. */
  readonly name: string;
  /** The folder of this process's temporary folder that the file is placed in. */
  readonly subfolder: string;
  readonly signal: AbortSignal;
}

/**
 * Streams the object to a file, which is removed when this is disposed of.
 * @throws DomainError as {@link Storage.get} does; `storage_unavailable` if the file cannot be written.
 */
export async function fetchFile(
  { storage, temporary }: FetchParts,
  { organizationId, name, subfolder, signal }: Fetched,
): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = join(temporary.subfolder(subfolder), randomUUID());
  const remove = (): Promise<void> => rm(path, { force: true });
  const stored = await storage.get({ organizationId, name, signal });
  try {
    await pipeline(stored, createWriteStream(path, { mode: 0o600 }), { signal });
  } catch (error) {
    await remove();
    throw asUnwritable(error);
  }
  return { path, [Symbol.asyncDispose]: remove };
}
