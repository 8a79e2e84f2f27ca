/** Opens the object store that the settings name. */
import { createDirectoryStore } from "./stores/directory.ts";
import type { ObjectStore } from "./object-store.ts";
import type { S3Settings } from "./stores/s3-client.ts";

export type StoreKind = "directory" | "gcs" | "s3";

interface StoreSettings {
  readonly gcsBucket: string | undefined;
  readonly emulatorHost: string | undefined;
  readonly s3: S3Settings | undefined;
  /** The folder for objects if there is no bucket. */
  readonly directory: string;
}

export function storeKind({ gcsBucket, s3 }: StoreSettings): StoreKind {
  if (s3 !== undefined) return "s3";
  return gcsBucket === undefined ? "directory" : "gcs";
}

/** The store itself, without encryption. A bucket's client is loaded only if used: it is slow to load. */
export async function openObjectStore(settings: StoreSettings): Promise<ObjectStore> {
  const { gcsBucket, emulatorHost, s3, directory } = settings;
  if (s3 !== undefined) return (await import("./stores/s3.ts")).createS3Store(s3);
  if (gcsBucket !== undefined)
    return (await import("./stores/gcs.ts")).createGcsStore({ bucket: gcsBucket, emulatorHost });
  return createDirectoryStore(directory);
}

/** The folders in which a process writes, by the names that readings of their free space have. */
export function writtenFolders(dataDir: string, storage: StoreSettings): Record<string, string> {
  return { data: dataDir, ...(storeKind(storage) === "directory" ? { objects: storage.directory } : {}) };
}
