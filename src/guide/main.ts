/**
 * Builds the guide if its sources have changed, and prints its folder: in the cache, or with `--image` at its
 * place in an image. `--data-dir` names the folder that takes the place of a cache that cannot be written;
 * `--in-background` leaves the processors to everything else.
 */
import { existsSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildGuide } from "./build.ts";
import { DOCS, IN_IMAGE, ROOT, findGuide, placesOf } from "./built.ts";

const { values } = parseArgs({
  options: {
    image: { type: "boolean", default: false },
    "in-background": { type: "boolean", default: false },
    "data-dir": { type: "string", default: join(ROOT, ".data") },
  },
});

async function folderOfGuide(stop: AbortSignal): Promise<string> {
  if (values.image) return buildGuide([IN_IMAGE], stop);
  const found = await findGuide(values["data-dir"]);
  // A copy without docs/ has nothing to build from.
  if (found !== undefined || !existsSync(DOCS)) return found ?? "";
  return buildGuide(await placesOf(values["data-dir"]), stop);
}

if (values["in-background"]) setPriority(constants.priority.PRIORITY_LOW);
const stop = new AbortController();
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, () => stop.abort());
process.stdout.write(`${await folderOfGuide(stop.signal)}\n`);
