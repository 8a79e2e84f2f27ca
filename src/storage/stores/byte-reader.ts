/** The only place that cuts a stream of pieces of any size into pieces of a wanted size. */

export interface ByteReader {
  /** Exactly `bytes` bytes, or what is left where the source ends before. May share memory with the source's pieces. */
  take(bytes: number): Promise<Buffer>;
  /** As {@link ByteReader.take}, into memory of the caller's, which is filled where the source has enough. @returns the part that was filled. */
  takeInto(target: Buffer): Promise<Buffer>;
  /** Whether nothing is left; reads one piece ahead where it must. */
  atEnd(): Promise<boolean>;
  /** Tells the source that no more is read, so that it frees what it holds. */
  close(): Promise<void>;
}

/** Reads `source` on demand only, at most one of its pieces ahead. */
export function createByteReader(source: AsyncIterable<Uint8Array>): ByteReader {
  const iterator = source[Symbol.asyncIterator]();
  let pieces: Buffer[] = [];
  let held = 0;
  let ended = false;

  async function fill(bytes: number): Promise<void> {
    while (held < bytes && !ended) {
      const next = await iterator.next();
      if (next.done === true) {
        ended = true;
      } else if (next.value.byteLength > 0) {
        pieces.push(Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength));
        held += next.value.byteLength;
      }
    }
  }

  return {
    async take(bytes) {
      await fill(bytes);
      const wanted = Math.min(bytes, held);
      const first = pieces[0];
      const all = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
      const rest = all.subarray(wanted);
      pieces = rest.byteLength === 0 ? [] : [rest];
      held = rest.byteLength;
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
        held -= copied;
        if (copied === first.byteLength) pieces.shift();
        else pieces[0] = first.subarray(copied);
      }
      return target.subarray(0, filled);
    },
    async atEnd() {
      await fill(1);
      return held === 0;
    },
    async close() {
      if (!ended) await iterator.return?.();
    },
  };
}
