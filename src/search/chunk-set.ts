/** A set of numbered chunks: an open-addressing table over typed arrays, a few nanoseconds a step. */
import type { ChunkKey } from "../db/search/scope.ts";

export interface ChunkSet {
  readonly size: number;
  /** Adds the chunk if it is not in the set, and adds `value` to its number, which begins at 0. */
  add(run: number, chunk: number, value: number): void;
  /** The chunk's number; null if it is not in the set. */
  get(run: number, chunk: number): number | null;
  has(run: number, chunk: number): boolean;
  /** All chunks, by run and index. */
  keys(): ChunkKey[];
}

/** What the operators of a query demand of chunks. */
export interface ChunkConditions {
  /** If not null, no other chunks may be found. */
  readonly required: ChunkSet | null;
  readonly excluded: ChunkSet;
}

/** Names a chunk by one string, for maps. */
export function chunkName(key: ChunkKey): string {
  return `${key.run_num}/${key.chunk_index}`;
}

interface Table {
  readonly runs: Int32Array;
  readonly chunks: Int32Array;
  readonly values: Float64Array;
  readonly mask: number;
}

/** Runs are numbered from 1, so that a 0 marks an empty place. */
function createTable(capacity: number): Table {
  return {
    runs: new Int32Array(capacity),
    chunks: new Int32Array(capacity),
    values: new Float64Array(capacity),
    mask: capacity - 1,
  };
}

/** The place of the chunk, or the empty one where it belongs. Large odd multipliers spread neighbours. */
function placeOf({ runs, chunks, mask }: Table, run: number, chunk: number): number {
  let place = (Math.imul(run, 0x9e3779b1) ^ Math.imul(chunk + 1, 0x85ebca6b)) >>> 0;
  place = (place ^ (place >>> 15)) & mask;
  while (runs[place] !== 0 && (runs[place] !== run || chunks[place] !== chunk)) place = (place + 1) & mask;
  return place;
}

/** @param expected how many chunks may come; the table grows if there are more. */
export function createChunkSet(expected: number): ChunkSet {
  let table = createTable(2 ** Math.ceil(Math.log2(Math.max(16, expected * 2))));
  let size = 0;
  const grow = (): void => {
    const old = table;
    table = createTable((old.mask + 1) * 2);
    for (let at = 0; at <= old.mask; at++) {
      if (old.runs[at] === 0) continue;
      const place = placeOf(table, old.runs[at]!, old.chunks[at]!);
      table.runs[place] = old.runs[at]!;
      table.chunks[place] = old.chunks[at]!;
      table.values[place] = old.values[at]!;
    }
  };
  return {
    get size() {
      return size;
    },
    add(run, chunk, value) {
      const place = placeOf(table, run, chunk);
      table.values[place]! += value;
      if (table.runs[place] !== 0) return;
      table.runs[place] = run;
      table.chunks[place] = chunk;
      size++;
      if (size * 2 > table.mask) grow();
    },
    get(run, chunk) {
      const place = placeOf(table, run, chunk);
      return table.runs[place] === 0 ? null : table.values[place]!;
    },
    has: (run, chunk) => table.runs[placeOf(table, run, chunk)] !== 0,
    keys() {
      const { runs, chunks, mask } = table;
      const keys: ChunkKey[] = [];
      for (let at = 0; at <= mask; at++) {
        if (runs[at] !== 0) keys.push({ run_num: runs[at]!, chunk_index: chunks[at]! });
      }
      return keys.toSorted(
        (one, other) => one.run_num - other.run_num || one.chunk_index - other.chunk_index,
      );
    },
  };
}
