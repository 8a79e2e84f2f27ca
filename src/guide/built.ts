/** Where the built guide is: an image brings it; elsewhere it is built once for each state of its sources. */
import { createHash } from "node:crypto";
import { access, readFile, readdir } from "node:fs/promises";
import { join, relative } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");
export const DOCS = join(ROOT, "docs");
/** Of an image: used whatever the sources are. */
export const IN_IMAGE = join(ROOT, "build/guide");
/** Written last, so a folder that has it is whole. */
export const LISTING = "files.json";

/** What the guide is made of, besides the packages. */
const SOURCES = ["docs", "src/guide", "src/schema/error-pages.ts", "src/domain/errors.ts"];
const LOCK = "package-lock.json";

/**
 * The folders in which a build may be, the preferred one first. The packages' folder is removed with them;
 * where it belongs to another user, as on one node, the data folder takes its place.
 */
export async function placesOf(dataDir: string): Promise<string[]> {
  const name = `guide-${await fingerprint()}`;
  return [join(ROOT, "node_modules/.cache/holdfast", name), join(dataDir, "cache", name)];
}

/** @returns the folder of the built guide; undefined while there is none for these sources. */
export async function findGuide(dataDir: string): Promise<string | undefined> {
  if (await isThere(join(IN_IMAGE, LISTING))) return IN_IMAGE;
  // An image has no sources, and a copy without docs/ has nothing to build from.
  if (!(await isThere(DOCS))) return undefined;
  for (const place of await placesOf(dataDir)) if (await isThere(join(place, LISTING))) return place;
  return undefined;
}

/** A hash of everything that the guide is made of, and of the versions of packages. */
async function fingerprint(): Promise<string> {
  const hash = createHash("sha256");
  const files = (await Promise.all(SOURCES.map((source) => filesOf(join(ROOT, source))))).flat();
  for (const path of [...files.toSorted(), join(ROOT, LOCK)])
    hash.update(`${relative(ROOT, path)}\0`).update(await readFile(path));
  return hash.digest("hex").slice(0, 16);
}

async function filesOf(path: string): Promise<string[]> {
  if (path.endsWith(".ts")) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("/node_modules"))
    .map((entry) => join(entry.parentPath, entry.name));
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
