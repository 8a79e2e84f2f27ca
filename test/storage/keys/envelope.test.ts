import { createSecretKey, randomBytes, randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createByteReader } from "../../../src/storage/stores/byte-reader.ts";
import {
  decryptRange,
  decryptStream,
  encryptStream,
  HEADER_BYTES,
  openEnvelope,
  openRange,
  plainSize,
  readHeader,
  SEGMENT_BYTES,
  storedSize,
} from "../../../src/storage/keys/envelope.ts";
import type { ObjectIdentity } from "../../../src/storage/keys/envelope.ts";

const SEALED = SEGMENT_BYTES + 16;
const key = { id: randomUUID(), secret: createSecretKey(randomBytes(32)) };
const identity: ObjectIdentity = { organizationId: randomUUID(), objectName: "a" };
const keyById = async (): Promise<typeof key> => key;

async function* cut(bytes: Buffer, size = 100_000): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.byteLength; start += size) yield bytes.subarray(start, start + size);
}

async function collect(source: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of source) parts.push(part);
  return Buffer.concat(parts);
}

const encrypt = (plain: Buffer, as = identity): Promise<Buffer> =>
  collect(encryptStream(cut(plain), { ...as, organizationKey: key }));
const decrypt = (sealed: Buffer, as = identity): Promise<Buffer> =>
  collect(decryptStream(cut(sealed), { ...as, keyById }));

async function decryptSlice(sealed: Buffer, range: { start: number; end?: number }): Promise<Buffer> {
  const wanted = openRange(sealed.byteLength, range);
  const segments = openEnvelope(readHeader(sealed.subarray(0, HEADER_BYTES)), identity, key);
  return collect(
    decryptRange(createByteReader(cut(sealed.subarray(wanted.start, wanted.end))), segments, wanted),
  );
}

describe("round trip", () => {
  test.each([0, 1, SEGMENT_BYTES - 1, SEGMENT_BYTES, SEGMENT_BYTES + 1, 1024 * 1024])(
    "of %i bytes",
    async (size) => {
      const plain = randomBytes(size);
      const sealed = await encrypt(plain);
      expect((await decrypt(sealed)).equals(plain)).toBe(true);
      expect(sealed.byteLength).toBe(storedSize(size));
      expect(plainSize(sealed.byteLength)).toBe(size);
      expect(sealed.includes(plain.subarray(0, 16)) && size >= 16).toBe(false);
    },
  );

  test("of a source in pieces of any size", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 90_000 }), { maxLength: 6 }),
        fc.integer({ min: 1, max: 200_000 }),
        async (sizes, readSize) => {
          const parts = sizes.map((size) => randomBytes(size));
          async function* source(): AsyncGenerator<Buffer> {
            yield* parts;
          }
          const sealed = await collect(encryptStream(source(), { ...identity, organizationKey: key }));
          const plain = await collect(decryptStream(cut(sealed, readSize), { ...identity, keyById }));
          expect(plain.equals(Buffer.concat(parts))).toBe(true);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("gives equal plaintexts unequal objects", async () => {
    const plain = Buffer.from("the same");
    expect((await encrypt(plain)).equals(await encrypt(plain))).toBe(false);
  });

  test("asks its source only for what is read", async () => {
    let pulled = 0;
    async function* endless(): AsyncGenerator<Buffer> {
      for (;;) {
        pulled += 1;
        yield Buffer.alloc(SEGMENT_BYTES);
      }
    }
    const sealed = encryptStream(endless(), { ...identity, organizationKey: key });
    for (let index = 0; index < 10; index += 1) await sealed.next();
    await sealed.return(undefined);
    expect(pulled).toBeLessThanOrEqual(10);
  });
});

describe("ranges", () => {
  test("equal slices of the plaintext", async () => {
    const plain = randomBytes(3 * SEGMENT_BYTES + 17);
    const sealed = await encrypt(plain);
    const edge = fc.oneof(
      fc.nat(plain.byteLength - 1),
      fc.constantFrom(
        0,
        SEGMENT_BYTES - 1,
        SEGMENT_BYTES,
        SEGMENT_BYTES + 1,
        3 * SEGMENT_BYTES,
        plain.byteLength - 1,
      ),
    );
    await fc.assert(
      fc.asyncProperty(
        edge,
        fc.oneof(fc.integer({ min: 1, max: plain.byteLength * 2 }), fc.constantFrom(1, SEGMENT_BYTES)),
        async (start, length) => {
          const slice = await decryptSlice(sealed, { start, end: start + length });
          expect(slice.equals(plain.subarray(start, start + length))).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
    expect((await decryptSlice(sealed, { start: 5 })).equals(plain.subarray(5))).toBe(true);
  });

  test("read no segment that they do not touch", () => {
    const stored = storedSize(10 * SEGMENT_BYTES);
    const { start, end } = openRange(stored, { start: SEGMENT_BYTES, end: SEGMENT_BYTES + 1 });
    expect([start, end]).toEqual([HEADER_BYTES + SEALED, HEADER_BYTES + 2 * SEALED]);
  });

  test.each([
    { start: 10 },
    { start: 11 },
    { start: 4, end: 4 },
    { start: 5, end: 4 },
    { start: -1, end: 4 },
  ])("refuses $start … $end of 10 bytes", (range) => {
    expect(() => openRange(storedSize(10), range)).toThrow(
      expect.objectContaining({ code: "range_not_satisfiable" }),
    );
  });

  test("see a changed bit and a cut end", async () => {
    const sealed = await encrypt(randomBytes(2 * SEGMENT_BYTES + 5));
    const changed = Buffer.from(sealed);
    changed[HEADER_BYTES + SEALED + 9]! ^= 1;
    await expect(
      decryptSlice(changed, { start: SEGMENT_BYTES, end: SEGMENT_BYTES + 1 }),
    ).rejects.toMatchObject({ code: "corrupt" });
    await expect(
      decryptSlice(sealed.subarray(0, HEADER_BYTES + 2 * SEALED), { start: SEGMENT_BYTES }),
    ).rejects.toMatchObject({ code: "corrupt" });
  });
});

describe("refused as corrupt", () => {
  const plain = randomBytes(3 * SEGMENT_BYTES + 100);
  const segment = (sealed: Buffer, index: number): Buffer =>
    sealed.subarray(HEADER_BYTES + index * SEALED, HEADER_BYTES + (index + 1) * SEALED);

  test("any changed byte, in the header too", async () => {
    const sealed = await encrypt(plain);
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.nat(HEADER_BYTES - 1), fc.nat(sealed.byteLength - 1)),
        fc.integer({ min: 1, max: 255 }),
        async (at, flip) => {
          // Another key id names another key. Here the right key is found for any id, so that the header's
          // own check has to refuse it.
          const changed = Buffer.from(sealed);
          changed[at]! ^= flip;
          await expect(decrypt(changed)).rejects.toMatchObject({ code: "corrupt" });
        },
      ),
      { numRuns: 80 },
    );
  });

  test("any cut, at a segment's edge too", async () => {
    const sealed = await encrypt(plain);
    for (const length of [
      0,
      10,
      HEADER_BYTES,
      HEADER_BYTES + 5,
      HEADER_BYTES + SEALED,
      HEADER_BYTES + 3 * SEALED,
      sealed.byteLength - 1,
    ]) {
      await expect(decrypt(sealed.subarray(0, length))).rejects.toMatchObject({ code: "corrupt" });
    }
  });

  test("bytes behind the end", async () => {
    await expect(decrypt(Buffer.concat([await encrypt(plain), Buffer.from("x")]))).rejects.toMatchObject({
      code: "corrupt",
    });
  });

  test("segments in another order, missing or repeated", async () => {
    const sealed = await encrypt(plain);
    const header = sealed.subarray(0, HEADER_BYTES);
    for (const order of [
      [1, 0, 2, 3],
      [0, 2, 3],
      [0, 0, 1, 2, 3],
      [0, 1, 2],
    ]) {
      await expect(
        decrypt(Buffer.concat([header, ...order.map((index) => segment(sealed, index))])),
      ).rejects.toMatchObject({ code: "corrupt" });
    }
  });

  test("segments of another object, and a whole object under another name or organization", async () => {
    const sealed = await encrypt(plain);
    const other = await encrypt(plain);
    const mixed = Buffer.concat([
      sealed.subarray(0, HEADER_BYTES + SEALED),
      other.subarray(HEADER_BYTES + SEALED),
    ]);
    await expect(decrypt(mixed)).rejects.toMatchObject({ code: "corrupt" });
    await expect(decrypt(sealed, { ...identity, objectName: "b" })).rejects.toMatchObject({
      code: "corrupt",
    });
    await expect(decrypt(sealed, { ...identity, organizationId: randomUUID() })).rejects.toMatchObject({
      code: "corrupt",
    });
  });

  test("sizes that no object has", () => {
    for (const size of [0, HEADER_BYTES, HEADER_BYTES + 15, HEADER_BYTES + SEALED + 16]) {
      expect(() => plainSize(size)).toThrow(expect.objectContaining({ code: "corrupt" }));
    }
  });
});
