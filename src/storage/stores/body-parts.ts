/** A stream of pieces of any size as parts of one size, in at most two buffers, whatever its length. */
import { free } from "../object-store.ts";

export interface BodyPart {
  /** Its memory is used again once the part after the next is asked for. */
  readonly bytes: Buffer;
  readonly isLast: boolean;
}

interface CutOptions {
  readonly partBytes: number;
  /** The pieces may lose their memory once they are copied. */
  readonly ownsPieces: boolean;
}

const FIRST_BYTES = 64 * 1024;

/** Parts of exactly `partBytes` bytes, but for the last; a body without a byte is one empty part. */
export async function* cutBody(
  body: AsyncIterable<Uint8Array>,
  { partBytes, ownsPieces }: CutOptions,
): AsyncGenerator<BodyPart> {
  let target: Buffer = Buffer.alloc(0);
  let spare: Buffer | undefined;
  let filled = 0;
  for await (const piece of body) {
    for (let taken = 0; taken < piece.byteLength;) {
      // Only now is it known that this part is not the last.
      if (filled === partBytes) {
        yield { bytes: target, isLast: false };
        [target, spare] = [spare ?? Buffer.allocUnsafeSlow(partBytes), target];
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

/** Most objects are small: the first buffer grows with what comes. */
function roomFor(target: Buffer, filled: number, wanted: number, partBytes: number): Buffer {
  if (filled + wanted <= target.byteLength) return target;
  const grown = Buffer.allocUnsafeSlow(
    Math.min(partBytes, Math.max(FIRST_BYTES, 4 * target.byteLength, filled + wanted)),
  );
  target.copy(grown, 0, 0, filled);
  return grown;
}
