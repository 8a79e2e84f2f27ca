/** The only place that knows how the postings of a term are packed: runs in any order, each with its chunks that have the term. Blocks may be joined end to end. */

/** Postings of one term, column by column; only the first `size` of each count. */
export interface PostingList {
  readonly runs: Int32Array;
  readonly chunks: Int32Array;
  /** Occurrences of the term in the chunk. */
  readonly counts: Int32Array;
  /** Terms of the chunk, with repetitions. */
  readonly lengths: Int32Array;
  size: number;
}

/** A posting is at least a byte each of index, count and length. */
const LEAST_BYTES = 3;

/**
 * Packs postings given as run, chunk, count, length, run, chunk, … in the order of runs and chunks. Every number is a varint (seven bits
 * a byte, the lowest first); a run is written as its number, how many chunks follow, and for each the step from the index before,
 * the count and the length.
 */
export function packPostings(postings: readonly number[]): Buffer {
  const bytes: number[] = [];
  const write = (value: number): void => {
    let rest = value;
    while (rest > 0x7f) {
      bytes.push((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    bytes.push(rest);
  };
  for (let at = 0; at < postings.length;) {
    const run = postings[at]!;
    let end = at;
    while (end < postings.length && postings[end] === run) end += 4;
    write(run);
    write((end - at) / 4);
    let before = 0;
    for (; at < end; at += 4) {
      write(postings[at + 1]! - before);
      write(postings[at + 2]!);
      write(postings[at + 3]!);
      before = postings[at + 1]!;
    }
  }
  return Buffer.from(bytes);
}

/** A list with room for all postings of the blocks. */
export function listFor(blocks: readonly Uint8Array[]): PostingList {
  const room = Math.ceil(blocks.reduce((sum, block) => sum + block.length, 0) / LEAST_BYTES);
  return { runs: new Int32Array(room), chunks: new Int32Array(room), counts: new Int32Array(room), lengths: new Int32Array(room), size: 0 };
}

/** Adds the block's postings to `list`, which has room for them; those of the runs in `without` are left out. */
export function unpackPostings(block: Uint8Array, list: PostingList, without: ReadonlySet<number>): void {
  const { runs, chunks, counts, lengths } = list;
  const end = block.length;
  let size = list.size;
  let at = 0;
  // A closure or a call for each number would take most of the time: half a million are read for some queries.
  while (at < end) {
    let byte = block[at++]!;
    let run = byte & 0x7f;
    for (let shift = 7; byte > 0x7f; shift += 7) run |= ((byte = block[at++]!) & 0x7f) << shift;
    byte = block[at++]!;
    let left = byte & 0x7f;
    for (let shift = 7; byte > 0x7f; shift += 7) left |= ((byte = block[at++]!) & 0x7f) << shift;
    const from = size;
    let chunk = 0;
    for (; left > 0; left--) {
      byte = block[at++]!;
      let step = byte & 0x7f;
      for (let shift = 7; byte > 0x7f; shift += 7) step |= ((byte = block[at++]!) & 0x7f) << shift;
      byte = block[at++]!;
      let count = byte & 0x7f;
      for (let shift = 7; byte > 0x7f; shift += 7) count |= ((byte = block[at++]!) & 0x7f) << shift;
      byte = block[at++]!;
      let length = byte & 0x7f;
      for (let shift = 7; byte > 0x7f; shift += 7) length |= ((byte = block[at++]!) & 0x7f) << shift;
      chunk += step;
      runs[size] = run;
      chunks[size] = chunk;
      counts[size] = count;
      lengths[size] = length;
      size++;
    }
    if (without.size > 0 && without.has(run)) size = from;
  }
  list.size = size;
}

/** The block without the postings of some runs. */
export function stripPostings(block: Buffer, without: ReadonlySet<number>): Buffer {
  const all = listFor([block]);
  unpackPostings(block, all, new Set());
  const kept: number[] = [];
  for (let at = 0; at < all.size; at++) if (!without.has(all.runs[at]!)) kept.push(all.runs[at]!, all.chunks[at]!, all.counts[at]!, all.lengths[at]!);
  return kept.length === all.size * 4 ? block : packPostings(kept);
}
