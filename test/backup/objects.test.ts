/**
 * Copies the objects of a backup out of a store and back, and tests what is refused if somebody changed the
 * folder or the store.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { INDEX, OBJECTS } from "../../src/backup/manifest.ts";
import { checkObjects, restoreObjects, saveObjects } from "../../src/backup/objects.ts";
import { createDirectoryStore } from "../../src/storage/stores/directory.ts";
import { objectName } from "../../src/storage/object-store.ts";
import { pieces, read } from "../support/servers/object-store-promises.ts";

const ignore = (): void => undefined;
const organization = randomUUID();
const names = [1, 2, 3].map(() => objectName(organization, randomUUID()));
const bytes = randomBytes(2_000);
const assertRoom = (): Promise<void> => Promise.resolve();
let root: string;
let folder: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "backup-"));
  folder = join(root, "backup");
  const store = createDirectoryStore(join(root, "store"));
  for (const name of names) await store.put(name, pieces(bytes));
  await mkdir(folder);
  await saveObjects(store, folder, [organization], { onCopied: ignore, assertRoom });
});
afterEach(() => rm(root, { recursive: true }));

const target = () => createDirectoryStore(join(root, "target"));
const restore = () => restoreObjects(target(), folder, [organization], ignore);

test("a restore goes on where it stopped, and replaces nothing", async () => {
  await target().put(names[1]!, pieces(bytes));
  expect(await restore()).toEqual({ count: 3, bytes: 6_000 });
  expect(await restore()).toEqual({ count: 3, bytes: 6_000 });
  expect(await read(target(), names[2]!)).toEqual(bytes);
});

test.each([
  [
    "another length",
    randomBytes(1_999),
    /another .* of 1999 bytes, and not of 2000\. Restore into a store that is empty\.$/,
  ],
  [
    "as many bytes",
    randomBytes(2_000),
    /another .* of as many bytes, with another hash\. Restore into a store that is empty\.$/,
  ],
])(
  "an object of the store with %s is no part of the backup, and stays as it is",
  async (_what, other, told) => {
    await target().put(names[1]!, pieces(other));
    await expect(restore()).rejects.toThrow(told);
    expect(await read(target(), names[1]!)).toEqual(other);
  },
);

test("a backup stops where its disk has no room left for the others on it", async () => {
  const full = new Error("full");
  await expect(
    saveObjects(target(), join(root, "store"), [organization], {
      onCopied: ignore,
      assertRoom: () => Promise.reject(full),
    }),
  ).resolves.toEqual({ count: 0, bytes: 0 });
  await restore();
  await mkdir(join(root, "second"));
  await expect(
    saveObjects(target(), join(root, "second"), [organization], {
      onCopied: ignore,
      assertRoom: () => Promise.reject(full),
    }),
  ).rejects.toBe(full);
});

test("a backup that failed no longer writes into its folder, which the command then removes", async () => {
  const broken = new Error("broken");
  const failed = Promise.withResolvers<void>();
  const source = createDirectoryStore(join(root, "store"));
  const [first, ...others] = names.toSorted();
  const half = {
    ...source,
    async get(name: string): Promise<Readable> {
      if (name === first) {
        failed.resolve();
        throw broken;
      }
      await failed.promise;
      return source.get(name);
    },
  };
  const second = join(root, "second");
  await mkdir(second);
  const saving = saveObjects(half, second, [organization], { onCopied: ignore, assertRoom });
  await expect(saving).rejects.toBe(broken);
  // The copies that were under way when the first failed are whole, so nobody writes them any more.
  const copies = createDirectoryStore(join(second, OBJECTS));
  for (const name of others) expect(await read(copies, name)).toEqual(bytes);
});

test("names that leave the folder, and lines that are too long, are refused before reading", async () => {
  const index = await readFile(join(folder, INDEX), "utf8");
  for (const name of [
    "../../../../etc/hostname",
    "/etc/hostname",
    `${organization}/../${names[0]!.slice(37)}`,
  ]) {
    await appendFile(join(folder, INDEX), `${JSON.stringify({ name, bytes: 1, sha256: "0".repeat(64) })}\n`);
    await expect(checkObjects(folder, ignore)).rejects.toThrow(
      `The object ${name} is missing from the backup or cannot be read.`,
    );
    await writeFile(join(folder, INDEX), index);
  }
  await appendFile(join(folder, INDEX), "x".repeat(5_000_000));
  await expect(checkObjects(folder, ignore)).rejects.toThrow(
    `${INDEX} has a line that is not an index entry.`,
  );
});
