/** Objects in a folder: what every store promises, and what a folder promises besides. */
import { mkdir, mkdtemp, readdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createDirectoryStore } from "../../src/storage/stores/directory.ts";
import {
  type Opened,
  describeObjectStore,
  newName,
  pieces,
  read,
} from "../support/servers/object-store-promises.ts";

async function openDirectory(): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), "objects-"));
  return { store: createDirectoryStore(folder), close: () => rm(folder, { recursive: true, force: true }) };
}

describeObjectStore("directory", openDirectory);

describe("directory store", () => {
  test.each([true, false])(
    "gives back the memory of what it wrote only where it owns that (%s), and never what others share",
    async (ownsPieces) => {
      const { store, close } = await openDirectory();
      const name = newName();
      const [alone, slab] = [Buffer.alloc(100_000, 1), Buffer.alloc(100_000, 2)];
      await store.put(name, pieces(alone, slab.subarray(0, 50_000)), { ownsPieces });
      expect(await read(store, name)).toEqual(
        Buffer.concat([Buffer.alloc(100_000, 1), Buffer.alloc(50_000, 2)]),
      );
      expect([alone.byteLength, slab.byteLength]).toEqual([ownsPieces ? 0 : 100_000, 100_000]);
      await close();
    },
  );

  test("leaves no temporary file behind, and sweeps those of dead processes", async () => {
    const folder = await mkdtemp(join(tmpdir(), "objects-"));
    const store = createDirectoryStore(folder);
    await store.put(newName(), pieces(Buffer.from("x")));
    expect(await readdir(join(folder, ".tmp"))).toEqual([]);
    await writeFile(join(folder, ".tmp", "old"), "x");
    await utimes(join(folder, ".tmp", "old"), new Date(0), new Date(0));
    await writeFile(join(folder, ".tmp", "new"), "x");
    expect(await store.removeUnfinished(60_000)).toBe(1);
    expect(await readdir(join(folder, ".tmp"))).toEqual(["new"]);
    await rm(folder, { recursive: true });
  });

  test("calls a store without its folder an outage", async () => {
    const folder = await mkdtemp(join(tmpdir(), "objects-"));
    await writeFile(join(folder, "file"), "x");
    const store = createDirectoryStore(join(folder, "file"));
    await expect(store.put(newName(), pieces(Buffer.from("x")))).rejects.toMatchObject({
      code: "storage_unavailable",
      class: "outage",
    });
    await mkdir(join(folder, "there"));
    await rm(folder, { recursive: true });
  });

  test("shows at a start that its folder cannot be written, and makes nothing there", async () => {
    const folder = await mkdtemp(join(tmpdir(), "objects-"));
    await writeFile(join(folder, "file"), "x");
    await expect(createDirectoryStore(join(folder, "file", "objects")).prove!()).rejects.toThrow(
      /^DATA_DIR must be a folder that this user can write to: .*\(ENOTDIR\)$/,
    );
    await expect(createDirectoryStore(join(folder, "file")).prove!()).rejects.toMatchObject({
      code: "storage_unavailable",
    });
    await createDirectoryStore(join(folder, "new", "objects")).prove!();
    expect(await readdir(folder)).toEqual(["file"]);
    await rm(folder, { recursive: true });
  });

  test("deletes and misses nothing while its folder is away, and has all of it afterwards", async () => {
    const folder = await mkdtemp(join(tmpdir(), "objects-"));
    const [mounted, away] = [join(folder, "mounted"), join(folder, "away")];
    const store = createDirectoryStore(mounted);
    const name = newName();
    await store.put(name, pieces(Buffer.from("kept")));
    await rename(mounted, away);
    for (const placeHolder of [undefined, mounted]) {
      if (placeHolder !== undefined) await mkdir(placeHolder);
      for (const ask of ["delete", "size", "get"] as const)
        await expect(store[ask](name)).rejects.toMatchObject({ code: "storage_unavailable" });
    }
    await rm(mounted, { recursive: true });
    await rename(away, mounted);
    expect((await read(store, name)).toString()).toBe("kept");
    await rm(folder, { recursive: true });
  });
});
