/** Which files a back-up's folder has; reads and writes its manifest. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { ExpectedFailure } from "../domain/expected-failure.ts";
import { MANIFEST_FORMAT, Manifest, type PartFile } from "../schema/files/backup.ts";

export const MANIFEST = "manifest.json";
/** Of `pg_dump --format=custom`. */
export const DUMP = "database.dump";
/** A line of JSON for each object, as an `IndexedObject`. */
export const INDEX = "objects.ndjson";
/** Objects as a folder of objects has them: `DATA_DIR/objects` can be replaced by it. */
export const OBJECTS = "objects";

export function newManifest(parts: Omit<Manifest, "format">): Manifest {
  return Manifest.parse({ format: MANIFEST_FORMAT, ...parts });
}

/** Written beside, made durable and renamed: a folder with a manifest is a back-up that was finished. */
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

/** @throws ExpectedFailure where there is none, or it is of another format. */
export async function readManifest(path: string): Promise<Manifest> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new ExpectedFailure(
      `${path} cannot be read (${error.code ?? "unknown"}): a back-up that was finished has it.`,
      error,
    );
  });
  const parsed = Manifest.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  throw new ExpectedFailure(
    `${path} is no manifest of this version: ${parsed.error.issues[0]?.path.join(".") ?? ""} ${parsed.error.issues[0]?.message ?? ""}`,
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Size and hash of a file, read as a stream. */
export async function measure(path: string): Promise<PartFile> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return { bytes: (await stat(path)).size, sha256: hash.digest("hex") };
}
