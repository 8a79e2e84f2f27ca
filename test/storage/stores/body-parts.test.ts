/** Cuts bodies into parts for stores that take them in parts. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { cutBody } from "../../../src/storage/stores/body-parts.ts";

const PART_BYTES = 100;

/** Copies each part before the next is asked for, since its memory is used again. */
async function cut(
  pieces: Uint8Array[],
  ownsPieces = false,
): Promise<{ parts: Buffer[]; last: boolean[]; memories: Set<ArrayBufferLike> }> {
  async function* body(): AsyncGenerator<Uint8Array> {
    yield* pieces;
  }
  const [parts, last, memories]: [Buffer[], boolean[], Set<ArrayBufferLike>] = [[], [], new Set()];
  for await (const { bytes, isLast } of cutBody(body(), { partBytes: PART_BYTES, ownsPieces })) {
    parts.push(Buffer.from(bytes));
    last.push(isLast);
    memories.add(bytes.buffer);
  }
  return { parts, last, memories };
}

test("pieces of any size become parts of one size in two buffers; the last may be shorter", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 350 }), { maxLength: 12 }), async (pieces) => {
      const whole = Buffer.concat(pieces);
      const { parts, last, memories } = await cut(pieces);
      expect(Buffer.concat(parts).equals(whole)).toBe(true);
      expect(parts.slice(0, -1).every(({ byteLength }) => byteLength === PART_BYTES)).toBe(true);
      expect(parts).toHaveLength(Math.max(1, Math.ceil(whole.byteLength / PART_BYTES)));
      expect(last).toEqual(parts.map((_part, index) => index === parts.length - 1));
      expect(memories.size).toBeLessThanOrEqual(2);
    }),
  );
});

test.each([true, false])(
  "pieces lose their memory once they are copied only where they are the store's own (%s)",
  async (ownsPieces) => {
    const alone = new Uint8Array(250).fill(7);
    const { parts } = await cut([alone], ownsPieces);
    expect(Buffer.concat(parts)).toEqual(Buffer.alloc(250, 7));
    expect(alone.byteLength).toBe(ownsPieces ? 0 : 250);
  },
);
