/** Cuts a stream of pieces of any size into parts of one size, in at most two buffers whatever its length. */
import { free } from "../object-store.ts";

export interface BodyPart {
  /** Valid until the part after the next is asked for: then its memory is used again. */
  readonly bytes: Buffer;
  readonly isLast: boolean;
}

interface CutOptions {
  readonly partBytes: number;
  /** Whether the memory of pieces may be freed after they are copied. */
  readonly ownsPieces: boolean;
}

const FIRST_BYTES = 64 * 1024;

/**
 * Parts of exactly `partBytes` bytes, except for the last. An empty body is one empty part.
 *
 * @example `test/storage/stores/body-parts.test.ts`
 */
export async function* cutBody(
  body: AsyncIterable<Uint8Array>,
  { partBytes, ownsPieces }: CutOptions,
): AsyncGenerator<BodyPart> {
  let target: Buffer = Buffer.alloc(0);
  let spare: Buffer | undefined;
  let filled = 0;
  for await (const piece of body) {
    for (let taken = 0; taken < piece.byteLength;) {
      // More has come, so the full part is not the last.
      if (filled === partBytes) {
        yield { bytes: target, isLast: false };
        const used = target;
        target = spare ?? Buffer.allocUnsafeSlow(partBytes);
        spare = used;
        filled = 0;
      }
      const wanted = Math.min(piece.byteLength - taken, partBytes - filled);
      target = roomFor(target, filled, wanted, partBytes);
      target.set(piece.subarray(taken, taken + wanted), filled);
      filled += wanted;
      taken += wanted;
    }
    if (ownsPieces) free(piece);
  }
  yield { bytes: target.subarray(0, filled), isLast: true };
}

/** A buffer with room for `wanted` more bytes. The first one grows with what comes: most are small. */
function roomFor(target: Buffer, filled: number, wanted: number, partBytes: number): Buffer {
  if (filled + wanted <= target.byteLength) return target;
  const grown = Buffer.allocUnsafeSlow(
    Math.min(partBytes, Math.max(FIRST_BYTES, 4 * target.byteLength, filled + wanted)),
  );
  target.copy(grown, 0, 0, filled);
  return grown;
}
