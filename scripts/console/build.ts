/** Builds the console with Vite, and holds its first load to a budget. */
import { readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { CONSOLE_SOURCES } from "../../src/api/site/sites.ts";
import { buildInto, runBuilder } from "../site/build.ts";
import { writeListing } from "../site/listing.ts";

/** What a browser loads of JavaScript before the first screen is asked for, compressed. */
const FIRST_LOAD_BYTES = 220 * 1_024;

/**
 * @param places where it may go; the first that can be written is taken
 * @returns the place that was taken
 * @throws Error with what Vite said, or if the first load is over its budget
 */
export function buildConsole(places: readonly string[], stop: AbortSignal): Promise<string> {
  return buildInto(places, async ({ out }) => {
    const entry = createRequire(join(CONSOLE_SOURCES, "package.json")).resolve("vite/package.json");
    const program = join(dirname(entry), "bin/vite.js");
    await runBuilder(
      "The console",
      [program, "build", "--configLoader", "native", "--outDir", out, "--emptyOutDir"],
      {
        cwd: CONSOLE_SOURCES,
        stop,
      },
    );
    await assertBudget(out);
    await rm(join(out, ".vite"), { recursive: true });
    await writeListing(out);
  });
}

interface ManifestEntry {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
}
type Manifest = Readonly<Record<string, ManifestEntry>>;

/** @throws Error if the scripts that the page loads at once are too large together */
export async function assertBudget(out: string): Promise<void> {
  const manifest = JSON.parse(await readFile(join(out, ".vite/manifest.json"), "utf8")) as Manifest;
  const sizes = await Promise.all(
    firstScripts(manifest).map(async (file): Promise<readonly [string, number]> => {
      const zipped = await promisify(gzip)(await readFile(join(out, file)), { level: 9 });
      return [file, zipped.length];
    }),
  );
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  if (total <= FIRST_LOAD_BYTES) return;
  const list = sizes.map(([file, size]) => `  ${size} ${file}`).join("\n");
  throw new Error(
    `The console's first load is ${total} bytes of JavaScript (gzip), over its budget of ${FIRST_LOAD_BYTES}:\n${list}`,
  );
}

/** The entry and all that it imports at once; what it imports later is a load of its own. */
function firstScripts(manifest: Manifest): string[] {
  const found = new Set<string>();
  const visit = (key: string): void => {
    const { file, imports = [] } = manifest[key]!;
    if (found.has(file)) return;
    found.add(file);
    for (const imported of imports) visit(imported);
  };
  for (const [key, { isEntry }] of Object.entries(manifest)) if (isEntry === true) visit(key);
  return [...found];
}
