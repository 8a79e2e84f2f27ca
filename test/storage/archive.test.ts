/**
 * Parts of an archive are named by their content, unreadable without the key, and refused if a bit was
 * changed.
 */
import { mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openArchive, readManifest } from "../../src/storage/archive.ts";

const KEY = Buffer.alloc(32, 1);
const PART = Buffer.from("Herons wait. ".repeat(1_000));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-parts-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const pathOf = (name: string): string => join(folder, "parts", name.slice(0, 2), name);

test("equal content is one part, read back as it was, and nothing of it is readable", async () => {
  const archive = openArchive(folder, KEY);
  const name = await archive.put(PART);
  expect(await archive.put(PART)).toBe(name);
  expect(await archive.put(Buffer.from("another"))).not.toBe(name);
  expect(
    (await readdir(join(folder, "parts"), { recursive: true })).filter((path) => path.length > 60),
  ).toHaveLength(2);
  expect(await archive.get(name)).toEqual(PART);
  const sealed = await readFile(pathOf(name));
  expect(sealed.length).toBeLessThan(PART.length / 10);
  expect(sealed).not.toContain("Herons");
});

test("a part that is missing, changed or sealed by another key is corrupt", async () => {
  const archive = openArchive(folder, KEY);
  const name = await archive.put(PART);
  await expect(openArchive(folder, Buffer.alloc(32, 2)).get(name)).rejects.toThrow(
    "encrypted with another key",
  );
  const sealed = await readFile(pathOf(name));
  await writeFile(pathOf(name), sealed.with(20, sealed[20]! ^ 1));
  await expect(archive.get(name)).rejects.toThrow("missing or was changed");
  await archive.writeManifest({ version: 1 });
  await expect(archive.get("0".repeat(64))).rejects.toMatchObject({ code: "corrupt" });
  await rm(join(folder, "manifest.json"));
});

test("a part or manifest that cannot be read now is an outage, and so is a missing folder", async () => {
  const archive = openArchive(folder, KEY);
  const name = await archive.put(Buffer.from("a part that is there"));
  await archive.writeManifest({ version: 1 });
  await rename(folder, `${folder}.away`);
  await expect(archive.get(name)).rejects.toMatchObject({ code: "storage_unavailable", class: "outage" });
  // A folder in place of the file: it exists, and reading it fails.
  await mkdir(pathOf(name), { recursive: true });
  await mkdir(join(folder, "manifest.json"));
  await expect(archive.get(name)).rejects.toMatchObject({ code: "storage_unavailable" });
  await expect(readManifest(folder)).rejects.toMatchObject({ code: "storage_unavailable" });
  await rm(folder, { recursive: true });
  await rename(`${folder}.away`, folder);
  expect((await archive.get(name)).toString()).toBe("a part that is there");
  await rm(join(folder, "manifest.json"));
});

test("an archive is complete after its manifest was written", async () => {
  await expect(readManifest(folder)).rejects.toThrow("its export has not finished");
  await openArchive(folder, KEY).writeManifest({ version: 1 });
  expect(await readManifest(folder)).toEqual({ version: 1 });
});
