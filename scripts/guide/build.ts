/** Builds the guide with VitePress. */
import { mkdir, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { buildInto, runBuilder } from "../site/build.ts";
import { ROOT } from "../../src/api/site/place.ts";
import { DOCS } from "../../src/api/site/sites.ts";
import { finish } from "./finish.ts";
import { stage } from "./stage.ts";

/**
 * @param places where it may go; the first that can be written is taken
 * @returns the place that was taken
 * @throws Error with what VitePress said, such as which link is dead
 */
export function buildGuide(places: readonly string[], stop: AbortSignal): Promise<string> {
  return buildInto(places, async ({ scratch, out }) => {
    const pages = join(scratch, "pages");
    await stage(DOCS, pages);
    // The theme's imports are looked up from the pages upwards.
    await symlink(join(ROOT, "node_modules"), join(scratch, "node_modules"));
    // Vite writes into the nearest folder of this name, which must not be that of another user.
    await mkdir(join(pages, "node_modules"));
    const entry = createRequire(join(DOCS, "package.json")).resolve("vitepress/package.json");
    const program = join(dirname(entry), "bin/vitepress.js");
    await runBuilder("The guide", [program, "build", pages, "--outDir", out], { stop });
    await finish(out);
  });
}
