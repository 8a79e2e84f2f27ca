import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDirectoryStore } from "../../src/storage/directory.ts";
import { createGcsStore } from "../../src/storage/gcs.ts";
import { objectName } from "../../src/storage/object-store.ts";
import type { GetOptions, ObjectStore } from "../../src/storage/object-store.ts";
import { findGo, startFakeGcs } from "../support/fake-gcs.ts";

const go = await findGo();
const newName = (organizationId = randomUUID()): string => objectName(organizationId, randomUUID());

async function* pieces(...parts: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}

async function read(store: ObjectStore, name: string, options: GetOptions = {}): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of await store.get(name, options)) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

interface Opened {
  readonly store: ObjectStore;
  close(): Promise<void>;
}

async function openDirectory(): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), "objects-"));
  return { store: createDirectoryStore(folder), close: () => rm(folder, { recursive: true, force: true }) };
}

async function openGcs(goCommand: string): Promise<Opened> {
  const emulator = await startFakeGcs(goCommand);
  return { store: createGcsStore({ bucket: emulator.bucket, emulatorHost: emulator.origin }), close: () => emulator.stop() };
}

const stores: [string, () => Promise<Opened>][] = [["directory", openDirectory]];
if (go !== undefined) stores.push(["gcs", () => openGcs(go)]);

describe.each(stores)("%s store", (_kind, open) => {
  let opened: Opened;
  let store: ObjectStore;
  beforeAll(async () => {
    opened = await open();
    store = opened.store;
  }, 310_000);
  afterAll(() => opened.close());

  test.each([0, 1, 300_000, 9 * 1024 * 1024 + 5])("gives back the %i bytes that were put", async (bytes) => {
    const name = newName();
    const body = randomBytes(bytes);
    expect(await store.put(name, pieces(body.subarray(0, 1000), body.subarray(1000)))).toEqual({ bytes });
    expect(await store.size(name)).toBe(bytes);
    expect((await read(store, name)).equals(body)).toBe(true);
  });

  test.each([{ start: 0, end: 1 }, { start: 10, end: 20 }, { start: 999_990 }, { start: 500_000, end: 9_000_000 }, { start: 0, end: 1_000_000 }, { start: 7, end: 7 }])(
    "reads the range $start … $end, its end exclusive",
    async ({ start, end }) => {
      const name = newName();
      const body = randomBytes(1_000_000);
      await store.put(name, pieces(body));
      expect((await read(store, name, { start, end })).equals(body.subarray(start, end))).toBe(true);
    },
  );

  test("refuses a range behind the end", async () => {
    const name = newName();
    await store.put(name, pieces(Buffer.from("abc")));
    await expect(store.get(name, { start: 3 })).rejects.toMatchObject({ code: "range_not_satisfiable" });
  });

  test("knows nothing of an object that was never put", async () => {
    await store.put(newName(), pieces(Buffer.from("another")));
    const name = newName();
    await expect(store.get(name)).rejects.toMatchObject({ code: "not_found" });
    await expect(store.size(name)).rejects.toMatchObject({ code: "not_found" });
    await expect(store.delete(name)).resolves.toBeUndefined();
  });

  test("has no object after its deletion, and deleting again is no error", async () => {
    const name = newName();
    await store.put(name, pieces(Buffer.from("abc")));
    await store.delete(name);
    await store.delete(name);
    await expect(store.get(name)).rejects.toMatchObject({ code: "not_found" });
  });

  test("replaces an object, but not with ifAbsent", async () => {
    const name = newName();
    await store.put(name, pieces(Buffer.from("first")), { ifAbsent: true });
    await expect(store.put(name, pieces(Buffer.from("other")), { ifAbsent: true })).rejects.toMatchObject({ code: "conflict" });
    expect((await read(store, name)).toString()).toBe("first");
    await store.put(name, pieces(Buffer.from("second")));
    expect((await read(store, name)).toString()).toBe("second");
  });

  test("keeps nothing of a body that fails, and passes its error on", async () => {
    const name = newName();
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield randomBytes(6 * 1024 * 1024);
      throw new RangeError("the body's own error");
    }
    await expect(store.put(name, failing())).rejects.toThrow(RangeError);
    await expect(store.size(name)).rejects.toMatchObject({ code: "not_found" });
  });

  test("keeps nothing of a write that is aborted while its body is silent", async () => {
    const name = newName();
    const abort = new AbortController();
    async function* silent(): AsyncGenerator<Uint8Array> {
      yield randomBytes(1000);
      setImmediate(() => abort.abort(new Error("enough")));
      await new Promise(() => {});
    }
    await expect(store.put(name, silent(), { signal: abort.signal })).rejects.toThrow("enough");
    await expect(store.size(name)).rejects.toMatchObject({ code: "not_found" });
  });

  test("stops a read when its signal is aborted", async () => {
    const name = newName();
    await store.put(name, pieces(randomBytes(5_000_000)));
    const abort = new AbortController();
    const stream = await store.get(name, { signal: abort.signal });
    abort.abort();
    await expect(stream.toArray()).rejects.toMatchObject({ name: "AbortError" });
  });

  test("lists by prefix in order, page by page", async () => {
    const organizationId = randomUUID();
    const names = Array.from({ length: 7 }, () => newName(organizationId)).toSorted();
    for (const name of [...names, newName()]) await store.put(name, pieces(Buffer.from("x")));
    const first = await store.list(`${organizationId}/`, { limit: 4 });
    const second = await store.list(`${organizationId}/`, { limit: 4, after: first.at(-1)?.name });
    expect([...first, ...second].map(({ name }) => name)).toEqual(names);
    expect(Math.abs(Date.now() - first[0]!.updatedAt.getTime())).toBeLessThan(60_000);
    expect(await store.list(names[2]!.slice(0, 39), { limit: 100 })).toContainEqual(expect.objectContaining({ name: names[2] }));
    expect(await store.list(`${randomUUID()}/`, { limit: 10 })).toEqual([]);
  });

  test.each(["../../etc/passwd", "", "a/b/c", `${randomUUID()}/zz/${randomUUID()}`])("refuses the name %j", async (name) => {
    await expect((async () => store.get(name))()).rejects.toMatchObject({ code: "internal" });
  });
});

describe("directory store", () => {
  test.each([true, false])("gives back the memory of what it wrote only where it owns that (%s), and never what others share", async (ownsPieces) => {
    const { store, close } = await openDirectory();
    const name = newName();
    const [alone, slab] = [Buffer.alloc(100_000, 1), Buffer.alloc(100_000, 2)];
    await store.put(name, pieces(alone, slab.subarray(0, 50_000)), { ownsPieces });
    expect(await read(store, name)).toEqual(Buffer.concat([Buffer.alloc(100_000, 1), Buffer.alloc(50_000, 2)]));
    expect([alone.byteLength, slab.byteLength]).toEqual([ownsPieces ? 0 : 100_000, 100_000]);
    await close();
  });

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
    await expect(store.put(newName(), pieces(Buffer.from("x")))).rejects.toMatchObject({ code: "storage_unavailable", class: "outage" });
    await mkdir(join(folder, "there"));
    await rm(folder, { recursive: true });
  });

  test("deletes and misses nothing while its folder is away, and has everything when it is back", async () => {
    const folder = await mkdtemp(join(tmpdir(), "objects-"));
    const [mounted, away] = [join(folder, "mounted"), join(folder, "away")];
    const store = createDirectoryStore(mounted);
    const name = newName();
    await store.put(name, pieces(Buffer.from("kept")));
    await rename(mounted, away);
    for (const placeHolder of [undefined, mounted]) {
      if (placeHolder !== undefined) await mkdir(placeHolder);
      for (const ask of ["delete", "size", "get"] as const) await expect(store[ask](name)).rejects.toMatchObject({ code: "storage_unavailable" });
    }
    await rm(mounted, { recursive: true });
    await rename(away, mounted);
    expect((await read(store, name)).toString()).toBe("kept");
    await rm(folder, { recursive: true });
  });
});
