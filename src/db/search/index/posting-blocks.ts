/** The only place that knows how a segment's chunks and the postings of its terms are packed: in varints (seven bits a byte, the lowest first). */

/** The chunks of a segment, column by column, in the order of runs and indexes; postings name them by their place here. */
export interface SegmentChunks {
  readonly runs: Int32Array;
  readonly chunks: Int32Array;
  /** Terms of the chunk, with repetitions. */
  readonly lengths: Int32Array;
}

export interface ListedChunk {
  readonly run: number;
  readonly chunk: number;
  readonly length: number;
}

/** A posting as one number, so that a list of them sorts by place: no chunk has a term more often than it has terms. */
const MOST_REPEATED = 65_536;

export function postingOf(place: number, count: number): number {
  return place * MOST_REPEATED + count;
}

function writeVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  bytes.push(rest);
}

function isAscending(postings: readonly number[]): boolean {
  for (let at = 1; at < postings.length; at++) if (postings[at]! < postings[at - 1]!) return false;
  return true;
}

/**
 * Packs the postings of a term (see {@link postingOf}), in any order. Each is the step from the place before, doubled, and one more where
 * the term stands there more than once: then the count follows.
 */
export function packPostings(postings: readonly number[]): Buffer {
  const bytes: number[] = [];
  let before = -1;
  for (const posting of isAscending(postings) ? postings : Float64Array.from(postings).sort()) {
    const [place, count] = [Math.floor(posting / MOST_REPEATED), posting % MOST_REPEATED];
    const step = (place - before - 1) * 2;
    writeVarint(bytes, count > 1 ? step + 1 : step);
    if (count > 1) writeVarint(bytes, count);
    before = place;
  }
  return Buffer.from(bytes);
}

/** Reads postings in the order of places. What a query counts and scores goes without a call for each. */
export function eachPosting(block: Uint8Array, visit: (place: number, count: number) => void): void {
  const read = { at: 0 };
  for (let place = 0; read.at < block.length; place++) {
    const step = readVarint(block, read);
    place += step >>> 1;
    visit(place, (step & 1) === 0 ? 1 : readVarint(block, read));
  }
}

function readVarint(bytes: Uint8Array, read: { at: number }): number {
  let byte = bytes[read.at++] ?? 0;
  let value = byte & 0x7f;
  for (let shift = 7; byte > 0x7f; shift += 7) {
    byte = bytes[read.at++] ?? 0;
    value |= (byte & 0x7f) << shift;
  }
  return value;
}

/** @param live a 1 for each place that counts; null where all do. */
export function countPostings(block: Uint8Array, live: Uint8Array | null): number {
  const end = block.length;
  let [found, place] = [0, -1];
  for (let at = 0; at < end;) {
    let byte = block[at++]!;
    let step = byte & 0x7f;
    for (let shift = 7; byte > 0x7f; shift += 7) step |= ((byte = block[at++]!) & 0x7f) << shift;
    if ((step & 1) === 1) while (block[at++]! > 0x7f);
    place += (step >>> 1) + 1;
    found += live === null ? 1 : live[place]!;
  }
  return found;
}

export interface Scoring {
  readonly weight: number;
  /** k1 * (1 - b). */
  readonly fixed: number;
  /** k1 * b / average length. */
  readonly perTerm: number;
  /** A 1 for each place that is scored; null where all are. */
  readonly visible: Uint8Array | null;
}

/** Adds to the score of each posting's place what BM25 gives: weight * count / (count + fixed + perTerm * length). */
export function addScores(
  block: Uint8Array,
  lengths: Int32Array,
  scores: Float64Array,
  { weight, fixed, perTerm, visible }: Scoring,
): void {
  const end = block.length;
  let place = -1;
  // A call for each number would take most of the time: half a million are read for some queries.
  for (let at = 0; at < end;) {
    let byte = block[at++]!;
    let step = byte & 0x7f;
    for (let shift = 7; byte > 0x7f; shift += 7) step |= ((byte = block[at++]!) & 0x7f) << shift;
    let count = 1;
    if ((step & 1) === 1) {
      byte = block[at++]!;
      count = byte & 0x7f;
      for (let shift = 7; byte > 0x7f; shift += 7) count |= ((byte = block[at++]!) & 0x7f) << shift;
    }
    place += (step >>> 1) + 1;
    if (visible === null || visible[place] === 1)
      scores[place]! += (weight * count) / (count + fixed + perTerm * lengths[place]!);
  }
}

/** Packs chunks in the order of runs and indexes: of each run its number, how many chunks, and of each the step from the index before and the length. */
export function packChunks(chunks: readonly ListedChunk[]): Buffer {
  const bytes: number[] = [];
  for (let at = 0; at < chunks.length;) {
    const { run } = chunks[at]!;
    let end = at;
    while (end < chunks.length && chunks[end]!.run === run) end++;
    writeVarint(bytes, run);
    writeVarint(bytes, end - at);
    for (let before = 0; at < end; at++) {
      const { chunk, length } = chunks[at]!;
      writeVarint(bytes, chunk - before);
      writeVarint(bytes, length);
      before = chunk;
    }
  }
  return Buffer.from(bytes);
}

export function unpackChunks(block: Uint8Array): SegmentChunks {
  // A chunk is two numbers at least.
  const most = block.length >>> 1;
  const [runs, chunks, lengths] = [new Int32Array(most), new Int32Array(most), new Int32Array(most)];
  const read = { at: 0 };
  let place = 0;
  while (read.at < block.length) {
    const run = readVarint(block, read);
    let chunk = 0;
    for (let left = readVarint(block, read); left > 0 && read.at < block.length; left--, place++) {
      chunk += readVarint(block, read);
      runs[place] = run;
      chunks[place] = chunk;
      lengths[place] = readVarint(block, read);
    }
  }
  return { runs: runs.slice(0, place), chunks: chunks.slice(0, place), lengths: lengths.slice(0, place) };
}
