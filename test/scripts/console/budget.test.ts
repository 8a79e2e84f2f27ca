/** The budget of the console's first load, which fails the build. */
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { assertBudget } from "../../../scripts/console/build.ts";

const KB = 1_024;
let out: string;

beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), "holdfast-budget-"));
  await mkdir(join(out, ".vite"));
});

afterEach(() => rm(out, { recursive: true, force: true }));

/** Writes scripts of which gzip can save nothing, and a manifest in which the entry imports `shared`. */
async function built(sizes: { readonly entry: number; readonly shared: number; readonly screen: number }) {
  for (const [name, size] of Object.entries(sizes))
    await writeFile(join(out, `${name}.js`), randomBytes(size));
  const manifest = {
    "index.html": {
      file: "entry.js",
      isEntry: true,
      imports: ["_shared.js"],
      dynamicImports: ["src/screen.tsx"],
    },
    // As Vite writes it where two parts import each other.
    "_shared.js": { file: "shared.js", imports: ["index.html"] },
    "src/screen.tsx": { file: "screen.js", isDynamicEntry: true, imports: ["index.html"] },
  };
  await writeFile(join(out, ".vite/manifest.json"), JSON.stringify(manifest));
}

test("a first load within the budget passes, however large a screen is that is loaded later", async () => {
  await built({ entry: 100 * KB, shared: 100 * KB, screen: 900 * KB });
  await expect(assertBudget(out)).resolves.toBeUndefined();
});

test("what the entry imports at once counts, and the error names the files and their sizes", async () => {
  await built({ entry: 100 * KB, shared: 125 * KB, screen: 1 });
  const refusal: unknown = await assertBudget(out).catch((error: unknown) => error);
  expect(String(refusal)).toMatch(/over its budget of 225280:\n {2}\d+ entry\.js\n {2}\d+ shared\.js$/);
});
