import { createHash, randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDirectoryStore } from "../../src/storage/stores/directory.ts";
import { createKeyring, localMasterKey } from "../../src/storage/keys/keyring.ts";
import type { WrappedKey } from "../../src/domain/tenancy/wrapped-keys.ts";
import { objectName } from "../../src/storage/object-store.ts";
import { createStorage } from "../../src/storage/storage.ts";
import type { Storage, StoreGet } from "../../src/storage/storage.ts";

const organizationId = randomUUID();
const rows: WrappedKey[] = [];
let folder: string;
let storage: Storage;
const keyring = createKeyring({
  master: localMasterKey(randomBytes(32)),
  load: async () => [...rows],
  create: async (_id, key) => {
    rows.push({ ...key, isCurrent: true });
  },
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "storage-"));
  storage = createStorage({ store: createDirectoryStore(folder), keyring });
});
afterAll(() => rm(folder, { recursive: true }));

async function* blocks(count: number, block: Buffer): AsyncGenerator<Buffer> {
  for (let index = 0; index < count; index += 1) yield block;
}

/** Each piece has memory of its own, so that keeping pieces in memory shows. */
async function* freshBlocks(megabytes: number): AsyncGenerator<Buffer> {
  for (let index = 0; index < megabytes; index += 1) yield Buffer.alloc(1024 * 1024, index);
}

async function put(plain: Buffer): Promise<string> {
  const name = objectName(organizationId, randomUUID());
  await storage.put({ organizationId, name, body: blocks(1, plain) });
  return name;
}

async function read(input: Omit<StoreGet, "organizationId">): Promise<Buffer> {
  return Buffer.concat((await (await storage.get({ organizationId, ...input })).toArray()) as Buffer[]);
}

test("stores encrypted and gives back the plaintext, whole and by range", async () => {
  const plain = Buffer.concat([Buffer.from("PLANTED CANARY"), randomBytes(200_000)]);
  const name = objectName(organizationId, randomUUID());
  const stored = await storage.put({ organizationId, name, body: blocks(1, plain) });
  expect(stored).toMatchObject({
    size: plain.byteLength,
    sha256: createHash("sha256").update(plain).digest("hex"),
  });
  const onDisk = await readFile(join(folder, name));
  expect(onDisk.byteLength).toBe(stored.storedBytes);
  expect(onDisk).not.toContain("PLANTED CANARY");
  expect(await storage.size(name)).toBe(plain.byteLength);
  expect((await read({ name })).equals(plain)).toBe(true);
  expect((await read({ name, range: { start: 8, end: 14 } })).toString()).toBe("CANARY");
  expect((await read({ name, range: { start: 199_000 } })).equals(plain.subarray(199_000))).toBe(true);
});

test("never overwrites an object", async () => {
  const name = await put(Buffer.from("x"));
  await expect(
    storage.put({ organizationId, name, body: blocks(1, Buffer.from("y")) }),
  ).rejects.toMatchObject({ code: "conflict" });
});

test("says before the first byte what cannot be read", async () => {
  const name = await put(Buffer.from("0123456789"));
  const missing = objectName(organizationId, randomUUID());
  await expect(storage.get({ organizationId, name: missing })).rejects.toMatchObject({ code: "not_found" });
  await expect(storage.get({ organizationId, name: missing, range: { start: 0 } })).rejects.toMatchObject({
    code: "not_found",
  });
  await expect(storage.get({ organizationId, name, range: { start: 10 } })).rejects.toMatchObject({
    code: "range_not_satisfiable",
  });
  await expect(storage.get({ organizationId: randomUUID(), name })).rejects.toMatchObject({
    code: "internal",
  });
});

test("ends a changed object's stream with an error, after true pieces only", async () => {
  const plain = randomBytes(200_000);
  const name = await put(plain);
  const bytes = await readFile(join(folder, name));
  bytes[150_000]! ^= 1;
  await writeFile(join(folder, name), bytes);
  const seen: Buffer[] = [];
  const reading = (async () => {
    for await (const piece of await storage.get({ organizationId, name })) seen.push(piece as Buffer);
  })();
  await expect(reading).rejects.toMatchObject({ code: "corrupt" });
  expect(plain.subarray(0, 131_072).equals(Buffer.concat(seen))).toBe(true);
});

test("an object moved to another name does not open", async () => {
  const name = await put(Buffer.from("secret"));
  const other = await put(Buffer.from("other"));
  await writeFile(join(folder, other), await readFile(join(folder, name)));
  await expect(storage.get({ organizationId, name: other })).rejects.toMatchObject({ code: "corrupt" });
});

test("keeps nothing of a body that fails", async () => {
  const name = objectName(organizationId, randomUUID());
  async function* failing(): AsyncGenerator<Buffer> {
    yield randomBytes(300_000);
    throw new RangeError("client gone");
  }
  await expect(storage.put({ organizationId, name, body: failing() })).rejects.toThrow(RangeError);
  await expect(storage.size(name)).rejects.toMatchObject({ code: "not_found" });
});

test("an organization without its key has unreadable objects", async () => {
  const name = await put(Buffer.from("shredded"));
  const kept = rows.splice(0);
  keyring.forget(organizationId);
  await expect(storage.get({ organizationId, name })).rejects.toMatchObject({ code: "not_found" });
  rows.push(...kept);
  keyring.forget(organizationId);
});

test("moves 300 MB in and out at constant memory", async () => {
  const name = objectName(organizationId, randomUUID());
  const before = process.memoryUsage.rss();
  let peak = before;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 10);
  const { signal } = new AbortController();
  const { size } = await storage.put({ organizationId, name, body: freshBlocks(300), signal });
  let read = 0;
  for await (const piece of await storage.get({ organizationId, name, signal }))
    read += (piece as Buffer).byteLength;
  clearInterval(watch);
  expect([size, read]).toEqual([300 * 1024 * 1024, 300 * 1024 * 1024]);
  expect((peak - before) / 1024 / 1024).toBeLessThan(150);
  await storage.delete(name);
}, 60_000);
