/** Reads as many bytes as are wanted from a stream of pieces of any size. */

export interface ByteReader {
  /** Exactly `bytes` bytes, or fewer at the source's end. They may share memory with the source's pieces. */
  take(bytes: number): Promise<Buffer>;
  /** As {@link ByteReader.take}, but fills `target` or reaches the end. @returns the part that was filled. */
  takeInto(target: Buffer): Promise<Buffer>;
  /** Whether nothing is left; reads one piece ahead if it has none. */
  atEnd(): Promise<boolean>;
  /** Tells the source that no more is read, so that it can free its memory and connections. */
  close(): Promise<void>;
}

/** Reads `source` on demand, at most one of its pieces ahead. */
export function createByteReader(source: AsyncIterable<Uint8Array>): ByteReader {
  const iterator = source[Symbol.asyncIterator]();
  let pieces: Buffer[] = [];
  let buffered = 0;
  let hasEnded = false;

  async function fill(bytes: number): Promise<void> {
    while (buffered < bytes && !hasEnded) {
      const next = await iterator.next();
      if (next.done === true) {
        hasEnded = true;
      } else if (next.value.byteLength > 0) {
        pieces.push(Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength));
        buffered += next.value.byteLength;
      }
    }
  }

  return {
    async take(bytes) {
      await fill(bytes);
      const wanted = Math.min(bytes, buffered);
      const first = pieces[0];
      const all = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
      const rest = all.subarray(wanted);
      pieces = rest.byteLength === 0 ? [] : [rest];
      buffered = rest.byteLength;
      return all.subarray(0, wanted);
    },
    async takeInto(target) {
      let filled = 0;
      while (filled < target.byteLength) {
        await fill(1);
        const first = pieces[0];
        if (first === undefined) break;
        const copied = first.copy(target, filled);
        filled += copied;
        buffered -= copied;
        if (copied === first.byteLength) pieces.shift();
        else pieces[0] = first.subarray(copied);
      }
      return target.subarray(0, filled);
    },
    async atEnd() {
      await fill(1);
      return buffered === 0;
    },
    async close() {
      if (!hasEnded) await iterator.return?.();
    },
  };
}
