/**
 * Packs and reads the terms of a segment: sorted by their bytes, some dozens a block, each with its postings.
 */
import type { TermBlock } from "../../db/search/index/postings.ts";
import { createTimeSlice } from "../../process/time-slice.ts";

/** A term as a string of its UTF-8 bytes, so that it sorts as Postgres does with collation "C". */
export type TermBytes = string & { readonly encoding: "term bytes" };

/**
 * A query reads one block for each term and segment, so blocks are small; a row of Postgres adds about a
 * hundred bytes.
 */
const BLOCK_BYTES = 1_024;

export function bytesOf(term: string): TermBytes {
  return Buffer.from(term, "utf8").toString("latin1") as TermBytes;
}

/** Returns the languages of the terms that have one (`de:haus`), sorted. */
export function languagesAmong(terms: Iterable<string>): string[] {
  const found = new Set<string>();
  for (const term of terms) if (term.charCodeAt(2) === 0x3a) found.add(term.slice(0, 2));
  return [...found].filter((language) => /^[a-z]{2}$/.test(language)).toSorted();
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return bytes;
}

/**
 * Packs terms with their postings into blocks of about {@link BLOCK_BYTES}. A term with many postings has a
 * block of its own. An entry is the length of the term in bytes, the term, the length of its postings in
 * bytes, the postings.
 */
export async function packBlocks(postings: ReadonlyMap<TermBytes, Uint8Array>): Promise<TermBlock[]> {
  const endOfSlice = createTimeSlice();
  const blocks: TermBlock[] = [];
  let first = "";
  let parts: Uint8Array[] = [];
  let size = 0;
  const flush = (): void => {
    if (parts.length > 0) blocks.push({ firstTerm: first, data: Buffer.concat(parts) });
    parts = [];
    size = 0;
  };
  for (const term of [...postings.keys()].toSorted()) {
    const data = postings.get(term)!;
    if (size + term.length + data.length > BLOCK_BYTES) flush();
    const bytes = Buffer.from(term, "latin1");
    if (parts.length === 0) first = bytes.toString("utf8");
    parts.push(Uint8Array.from(varint(bytes.length)), bytes, Uint8Array.from(varint(data.length)), data);
    size += bytes.length + data.length + 3;
    await endOfSlice();
  }
  flush();
  return blocks;
}

/** Calls `visit` for the entries of the block, in order, until it returns true. */
export function readBlock(block: Buffer, visit: (term: TermBytes, postings: Buffer) => boolean | void): void {
  let at = 0;
  const read = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = block[at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte <= 0x7f) return value;
    }
  };
  while (at < block.length) {
    const termEnd = read() + at;
    const term = block.toString("latin1", at, termEnd) as TermBytes;
    at = termEnd;
    const end = read() + at;
    if (visit(term, block.subarray(at, end)) === true) return;
    at = end;
  }
}

/**
 * Returns the postings of a term, given by its UTF-8 bytes, or null if the block does not have it. Creates no
 * objects for the terms before it, since a query passes thousands of them.
 */
export function findTerm(block: Buffer, wanted: Uint8Array): Buffer | null {
  const end = block.length;
  for (let at = 0; at < end;) {
    let byte = block[at++]!;
    let size = byte & 0x7f;
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = block[at++]!;
      size |= (byte & 0x7f) << shift;
    }
    const isWanted = size === wanted.length && isAt(block, at, wanted);
    at += size;
    byte = block[at++]!;
    size = byte & 0x7f;
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = block[at++]!;
      size |= (byte & 0x7f) << shift;
    }
    if (isWanted) return block.subarray(at, at + size);
    at += size;
  }
  return null;
}

function isAt(block: Uint8Array, start: number, wanted: Uint8Array): boolean {
  for (let at = 0; at < wanted.length; at++) if (block[start + at] !== wanted[at]) return false;
  return true;
}
