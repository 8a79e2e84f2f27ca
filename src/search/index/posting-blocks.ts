/**
 * Packs and unpacks the chunks of a segment and the postings of its terms, as varints: seven bits a byte, the
 * lowest first, the top bit set if more follow.
 *
 * A query reads up to half a million postings, so the functions that count and score decode varints in place:
 * a call for each number would take most of the time.
 * @see https://protobuf.dev/programming-guides/encoding/#varints
 */

/** The chunks of a segment as columns, by run and index. Postings refer to their places there. */
export interface SegmentChunks {
  readonly runs: Int32Array;
  readonly chunks: Int32Array;
  /** How many terms each chunk has, with repetitions. */
  readonly lengths: Int32Array;
  /** The number of each chunk's passage in this list, ascending from 0; see {@link PASSAGE_SHIFT}. */
  readonly passages: Int32Array;
  /** How many terms each passage has. */
  readonly passageLengths: Int32Array;
}

/**
 * Chunks of one document from a multiple of eight (two to the power of this) on are a passage: about four
 * pages, and the whole of a short document. Passages do not depend on how chunks are spread over segments,
 * since a segment has whole parts of 512 chunks. From 4 chunks on, rankings of any length are the same within
 * .002 nDCG@10.
 */
const PASSAGE_SHIFT = 3;

export interface ListedChunk {
  readonly run: number;
  readonly chunk: number;
  readonly length: number;
}

/** More than the repetitions of any term in a chunk, which cannot have as many terms. */
const MOST_REPEATED = 65_536;

/** Returns a posting as one number, so that a list of postings sorts by place. */
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
 * Packs the postings of a term (see {@link postingOf}), given in any order. A posting is the step from the
 * previous place, doubled; one is added if the term is there more than once, and the count follows.
 */
export function packPostings(postings: readonly number[]): Buffer {
  const bytes: number[] = [];
  let before = -1;
  for (const posting of isAscending(postings) ? postings : Float64Array.from(postings).sort()) {
    const place = Math.floor(posting / MOST_REPEATED);
    const count = posting % MOST_REPEATED;
    const step = (place - before - 1) * 2;
    writeVarint(bytes, count > 1 ? step + 1 : step);
    if (count > 1) writeVarint(bytes, count);
    before = place;
  }
  return Buffer.from(bytes);
}

/** Calls `visit` for each posting, in the order of places. */
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

/** Counts the postings of a term. @param live has a 1 at each place that counts; null if all do. */
export function countPostings(block: Uint8Array, live: Uint8Array | null): number {
  const end = block.length;
  let found = 0;
  let place = -1;
  for (let at = 0; at < end;) {
    let byte = block[at++]!;
    let step = byte & 0x7f;
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = block[at++]!;
      step |= (byte & 0x7f) << shift;
    }
    if ((step & 1) === 1) {
      do {
        byte = block[at++]!;
      } while (byte > 0x7f);
    }
    place += (step >>> 1) + 1;
    found += live === null ? 1 : live[place]!;
  }
  return found;
}

/** The scores that {@link addScores} adds to, by place and by passage. */
export interface Scored {
  readonly chunks: Float64Array;
  readonly passages: Float64Array;
}

export interface Scoring {
  readonly weight: number;
  /** k1 * (1 - b). */
  readonly fixed: number;
  /** k1 * b / average length of chunks. */
  readonly perTerm: number;
  /** k1 * b / average length of passages. */
  readonly perPassageTerm: number;
  /** Has a 1 at each place that is scored; null if all are. */
  readonly visible: Uint8Array | null;
}

/**
 * Adds the BM25 score of each posting to its place: weight * count / (count + fixed + perTerm * length), and
 * that of all postings of a passage together to the passage.
 * @see https://doi.org/10.1561/1500000019 (The Probabilistic Relevance Framework: BM25 and Beyond)
 */
export function addScores(
  block: Uint8Array,
  { lengths, passages, passageLengths }: SegmentChunks,
  scored: Scored,
  { weight, fixed, perTerm, perPassageTerm, visible }: Scoring,
): void {
  const end = block.length;
  let place = -1;
  let passage = -1;
  let inPassage = 0;
  for (let at = 0; at < end;) {
    let byte = block[at++]!;
    let step = byte & 0x7f;
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = block[at++]!;
      step |= (byte & 0x7f) << shift;
    }
    let count = 1;
    if ((step & 1) === 1) {
      byte = block[at++]!;
      count = byte & 0x7f;
      for (let shift = 7; byte > 0x7f; shift += 7) {
        byte = block[at++]!;
        count |= (byte & 0x7f) << shift;
      }
    }
    place += (step >>> 1) + 1;
    if (visible !== null && visible[place] !== 1) continue;
    scored.chunks[place]! += (weight * count) / (count + fixed + perTerm * lengths[place]!);
    if (passages[place] !== passage) {
      if (inPassage > 0)
        scored.passages[passage]! +=
          (weight * inPassage) / (inPassage + fixed + perPassageTerm * passageLengths[passage]!);
      passage = passages[place]!;
      inPassage = 0;
    }
    inPassage += count;
  }
  if (inPassage > 0)
    scored.passages[passage]! +=
      (weight * inPassage) / (inPassage + fixed + perPassageTerm * passageLengths[passage]!);
}

/** Packs chunks by run and index: a run is its number, its count, and each chunk's step and length. */
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

/** Reads what {@link packChunks} wrote. A block that is cut off yields the chunks before the cut. */
export function unpackChunks(block: Uint8Array): SegmentChunks {
  // A chunk takes two bytes at least.
  const most = block.length >>> 1;
  const runs = new Int32Array(most);
  const chunks = new Int32Array(most);
  const lengths = new Int32Array(most);
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
  return withPassages(runs.slice(0, place), chunks.slice(0, place), lengths.slice(0, place));
}

function withPassages(runs: Int32Array, chunks: Int32Array, lengths: Int32Array): SegmentChunks {
  const passages = new Int32Array(runs.length);
  const passageLengths = new Int32Array(runs.length);
  let passage = -1;
  for (let place = 0; place < runs.length; place++) {
    const goesOn =
      place > 0 &&
      runs[place] === runs[place - 1] &&
      chunks[place]! >> PASSAGE_SHIFT === chunks[place - 1]! >> PASSAGE_SHIFT;
    if (!goesOn) passage++;
    passages[place] = passage;
    passageLengths[passage]! += lengths[place]!;
  }
  return { runs, chunks, lengths, passages, passageLengths: passageLengths.slice(0, passage + 1) };
}
