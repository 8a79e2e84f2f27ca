/** The files of a backup's folder, and its manifest. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { ExpectedFailure } from "../domain/expected-failure.ts";
import { MANIFEST_FORMAT, Manifest, type PartFile } from "../schema/files/backup.ts";

export const MANIFEST = "manifest.json";
/** Made by `pg_dump --format=custom`. */
export const DUMP = "database.dump";
/** One `IndexedObject` a line, as JSON. */
export const INDEX = "objects.ndjson";
/** Objects laid out as in a directory store, so that it can replace `DATA_DIR/objects`. */
export const OBJECTS = "objects";

export function newManifest(parts: Omit<Manifest, "format">): Manifest {
  return Manifest.parse({ format: MANIFEST_FORMAT, ...parts });
}

/** Written under another name, synced and renamed, so that a folder with a manifest is a finished backup. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const path = join(folder, MANIFEST);
  const file = await open(`${path}.new`, "wx", 0o600);
  try {
    await file.writeFile(`${JSON.stringify(manifest, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}

/** @throws ExpectedFailure if there is none, or it has another format */
export async function readManifest(path: string): Promise<Manifest> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new ExpectedFailure(
      `${path} cannot be read (${error.code ?? "unknown"}): a complete backup contains it.`,
      error,
    );
  });
  const parsed = Manifest.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new ExpectedFailure(
    `${path} is not a manifest of this version: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`,
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The size and the hash of a file, which is read as a stream. */
export async function measure(path: string): Promise<PartFile> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return { bytes: (await stat(path)).size, sha256: hash.digest("hex") };
}
