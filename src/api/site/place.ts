/** Where a built site is, guide or console: an image brings it; else it is built once for its sources. */
import { createHash } from "node:crypto";
import { access, readFile, readdir, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { LISTING } from "./listing.ts";

export const ROOT = join(import.meta.dirname, "../../..");
const LOCK = "package-lock.json";

export interface SitePlaces {
  readonly name: "guide" | "console";
  /** Files and folders below the project's root that it is made of, besides the packages. */
  readonly sources: readonly string[];
}

/** Of an image: used whatever the sources are. */
export const placeInImage = ({ name }: SitePlaces): string => join(ROOT, "build", name);

/**
 * The folders in which a build may be, the preferred one first. The packages' folder is removed with them;
 * where it belongs to another user, as on one node, the data folder takes its place.
 */
export async function placesOf(site: SitePlaces, dataDir: string): Promise<string[]> {
  const name = `${site.name}-${await fingerprint(site.sources)}`;
  return [join(ROOT, "node_modules/.cache/holdfast", name), join(dataDir, "cache", name)];
}

/** @returns the folder of the built site; undefined while there is none for these sources. */
export async function findSite(site: SitePlaces, dataDir: string): Promise<string | undefined> {
  const inImage = placeInImage(site);
  if (await isThere(join(inImage, LISTING))) return inImage;
  // An image has no sources.
  if (!(await canBuild(site))) return undefined;
  for (const place of await placesOf(site, dataDir)) if (await isThere(join(place, LISTING))) return place;
  return undefined;
}

export async function canBuild({ sources }: SitePlaces): Promise<boolean> {
  const found = await Promise.all(sources.map((source) => isThere(join(ROOT, source))));
  return !found.includes(false);
}

/** A hash of everything that the site is made of, and of the versions of packages. */
async function fingerprint(sources: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  const files = (await Promise.all(sources.map((source) => filesOf(join(ROOT, source))))).flat();
  for (const path of [...files.toSorted(), join(ROOT, LOCK)])
    hash.update(`${relative(ROOT, path)}\0`).update(await readFile(path));
  return hash.digest("hex").slice(0, 16);
}

/** Folders that builds write into sources. */
const WRITTEN = [`${sep}node_modules`, `${sep}dist`];

async function filesOf(path: string): Promise<string[]> {
  if ((await stat(path)).isFile()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !WRITTEN.some((name) => entry.parentPath.includes(name)))
    .map((entry) => join(entry.parentPath, entry.name));
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
