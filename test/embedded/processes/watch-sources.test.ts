import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Edit, isSource, watchSources } from "../../../src/embedded/processes/watch-sources.ts";

let folder: string;
let stop: AbortController;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-watch-"));
  await mkdir(join(folder, "api/routes"), { recursive: true });
  await writeFile(join(folder, "api/app.ts"), "one");
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await rm(folder, { recursive: true, force: true });
});

const save = (name: string, text = "two"): Promise<void> => writeFile(join(folder, name), text);

/** Reads edits until all these files were seen, in any number of edits. */
async function edited(edits: AsyncGenerator<Edit, void>, files: readonly string[]): Promise<string[]> {
  const seen = new Set<string>();
  while (!files.every((file) => seen.has(file))) {
    const { value } = await edits.next();
    if (value === undefined)
      throw new Error(`the watch ended, and had seen ${[...seen].join(", ") || "nothing"}`);
    for (const file of value.files) seen.add(file);
  }
  return [...seen].toSorted();
}

test("a file that is written in place, and one that an editor puts into its place", async () => {
  const edits = watchSources(folder, stop.signal);
  await save("api/app.ts");
  expect(await edited(edits, ["api/app.ts"])).toEqual(["api/app.ts"]);
  await save("api/app.ts.tmp123", "three");
  await rename(join(folder, "api/app.ts.tmp123"), join(folder, "api/app.ts"));
  expect(await edited(edits, ["api/app.ts"])).toEqual(["api/app.ts"]);
  await save("api/app.ts", "four");
  expect(await edited(edits, ["api/app.ts"])).toEqual(["api/app.ts"]);
});

test("new files, also in a new folder", async () => {
  const edits = watchSources(folder, stop.signal);
  await save("api/routes/new.ts");
  expect(await edited(edits, ["api/routes/new.ts"])).toEqual(["api/routes/new.ts"]);
  await mkdir(join(folder, "more"));
  await save("more/new.sql");
  expect(await edited(edits, ["more/new.sql"])).toEqual(["more/new.sql"]);
});

test("what is saved while an edit is worked on is the next edit, all of it", async () => {
  const edits = watchSources(folder, stop.signal);
  await save("api/app.ts");
  await edits.next();
  await save("api/app.ts", "three");
  await save("api/routes/one.ts");
  await save("api/routes/two.ts");
  expect(await edited(edits, ["api/app.ts", "api/routes/one.ts", "api/routes/two.ts"])).toHaveLength(3);
});

test("the end of the watch ends the edits", async () => {
  const edits = watchSources(folder, stop.signal);
  const next = edits.next();
  stop.abort();
  expect((await next).done).toBe(true);
});

test.each(["api/app.ts", "db/migrations/0001_a.sql", "temporal/failure-converter.cjs", "a.json"])(
  "%s is source",
  (path) => {
    expect(isSource(path)).toBe(true);
  },
);

test.each(["api/.#app.ts", "api/#app.ts#", "api/.app.ts.swp", "api/app.ts~", "api/4913", "notes.md", "api"])(
  "%s is none",
  (path) => {
    expect(isSource(path)).toBe(false);
  },
);
