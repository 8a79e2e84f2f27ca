/** Describes what every object store promises, as tests of one. */
import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GetOptions, type ObjectStore, objectName } from "../../../src/storage/object-store.ts";
import { unless } from "../run/unless.ts";

export const newName = (organizationId = randomUUID()): string => objectName(organizationId, randomUUID());

export async function* pieces(...parts: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}

export async function read(store: ObjectStore, name: string, options: GetOptions = {}): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of await store.get(name, options)) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** Reads an object, pausing for `restMs` after the first piece. */
export async function readResting(store: ObjectStore, name: string, restMs: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of await store.get(name)) {
    if (parts.length === 0) await new Promise((resolve) => setTimeout(resolve, restMs));
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts);
}

export interface Opened {
  readonly store: ObjectStore;
  close(): Promise<void>;
}

/** Opening may take as long as building an emulator does. The tests are skipped if something is `missing`. */
export function describeObjectStore(
  kind: string,
  open: () => Promise<Opened>,
  { missing }: { readonly missing?: string | undefined } = {},
): void {
  describe(`${kind} store`, unless(missing), () => {
    let opened: Opened;
    let store: ObjectStore;
    beforeAll(async () => {
      opened = await open();
      store = opened.store;
    }, 310_000);
    afterAll(() => opened.close());

    test.each([0, 1, 300_000, 9 * 1024 * 1024 + 5])(
      "gives back the %i bytes that were put",
      async (bytes) => {
        const name = newName();
        const body = randomBytes(bytes);
        expect(await store.put(name, pieces(body.subarray(0, 1000), body.subarray(1000)))).toEqual({ bytes });
        expect(await store.size(name)).toBe(bytes);
        expect((await read(store, name)).equals(body)).toBe(true);
      },
    );

    test.each([
      { start: 0, end: 1 },
      { start: 10, end: 20 },
      { start: 999_990 },
      { start: 500_000, end: 9_000_000 },
      { start: 0, end: 1_000_000 },
      { start: 7, end: 7 },
    ])("reads the range $start … $end, its end exclusive", async ({ start, end }) => {
      const name = newName();
      const body = randomBytes(1_000_000);
      await store.put(name, pieces(body));
      expect((await read(store, name, { start, end })).equals(body.subarray(start, end))).toBe(true);
    });

    test("refuses a range beyond the end", async () => {
      const name = newName();
      await store.put(name, pieces(Buffer.from("abc")));
      await expect(store.get(name, { start: 3 })).rejects.toMatchObject({ code: "range_not_satisfiable" });
    });

    test("knows nothing of an object that was never put", async () => {
      await store.put(newName(), pieces(Buffer.from("another")));
      const name = newName();
      for (const range of [{}, { start: 0, end: 0 }])
        await expect(store.get(name, range)).rejects.toMatchObject({ code: "not_found" });
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
      await expect(store.put(name, pieces(Buffer.from("other")), { ifAbsent: true })).rejects.toMatchObject({
        code: "conflict",
      });
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
      expect(await store.list(names[2]!.slice(0, 39), { limit: 100 })).toContainEqual(
        expect.objectContaining({ name: names[2] }),
      );
      expect(await store.list(`${randomUUID()}/`, { limit: 10 })).toEqual([]);
    });

    test.each(["../../etc/passwd", "", "a/b/c", `${randomUUID()}/zz/${randomUUID()}`])(
      "refuses the name %j",
      async (name) => {
        await expect((async () => store.get(name))()).rejects.toMatchObject({ code: "internal" });
      },
    );
  });
}
