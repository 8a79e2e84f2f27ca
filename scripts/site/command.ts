/** What the commands that build a site have in common. */
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  ROOT,
  type SitePlaces,
  canBuild,
  findSite,
  placeInImage,
  placesOf,
} from "../../src/api/site/place.ts";

/**
 * Builds the site if its sources have changed, and prints its folder: in the cache, or with `--image` at its
 * place in an image. `--data-dir` names the folder that takes the place of a cache that cannot be written;
 * `--in-background` leaves the processors to everything else.
 */
export async function runSiteCommand(
  site: SitePlaces,
  build: (places: readonly string[], stop: AbortSignal) => Promise<string>,
): Promise<void> {
  const { values } = parseArgs({
    options: {
      image: { type: "boolean", default: false },
      "in-background": { type: "boolean", default: false },
      "data-dir": { type: "string", default: join(ROOT, ".data") },
    },
  });
  if (values["in-background"]) setPriority(constants.priority.PRIORITY_LOW);
  const stop = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, () => stop.abort());
  const dataDir = values["data-dir"];
  const folder = async (): Promise<string> => {
    if (values.image) return build([placeInImage(site)], stop.signal);
    const found = await findSite(site, dataDir);
    if (found !== undefined || !(await canBuild(site))) return found ?? "";
    return build(await placesOf(site, dataDir), stop.signal);
  };
  process.stdout.write(`${await folder()}\n`);
}
