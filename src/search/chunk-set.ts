/** The only place that gathers numbers by chunk fast: an open-addressing table over typed arrays, a few nanoseconds a step. */
import type { ChunkKey } from "../db/search/scope.ts";

export interface ChunkSet {
  readonly size: number;
  /** Adds to the chunk's number, which begins at 0. */
  add(run: number, chunk: number, value: number): void;
  /** Null where nothing was added for the chunk. */
  get(run: number, chunk: number): number | null;
  has(run: number, chunk: number): boolean;
  each(visit: (run: number, chunk: number, value: number) => void): void;
  keys(): ChunkKey[];
}

interface Table {
  readonly runs: Int32Array;
  readonly chunks: Int32Array;
  readonly values: Float64Array;
  readonly mask: number;
}

/** Runs are numbered from 1, so that a 0 is an empty place. */
function createTable(capacity: number): Table {
  return {
    runs: new Int32Array(capacity),
    chunks: new Int32Array(capacity),
    values: new Float64Array(capacity),
    mask: capacity - 1,
  };
}

/** The place of the chunk, or the empty one where it belongs. Multipliers are large odd numbers that spread neighbours. */
function placeOf({ runs, chunks, mask }: Table, run: number, chunk: number): number {
  let place = (Math.imul(run, 0x9e3779b1) ^ Math.imul(chunk + 1, 0x85ebca6b)) >>> 0;
  place = (place ^ (place >>> 15)) & mask;
  while (runs[place] !== 0 && (runs[place] !== run || chunks[place] !== chunk)) place = (place + 1) & mask;
  return place;
}

/** @param expected how many chunks may come; more are no mistake. */
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
  const each: ChunkSet["each"] = (visit) => {
    const { runs, chunks, values, mask } = table;
    for (let at = 0; at <= mask; at++) if (runs[at] !== 0) visit(runs[at]!, chunks[at]!, values[at]!);
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
    each,
    keys() {
      const keys: ChunkKey[] = [];
      each((run_num, chunk_index) => void keys.push({ run_num, chunk_index }));
      return keys.toSorted(
        (one, other) => one.run_num - other.run_num || one.chunk_index - other.chunk_index,
      );
    },
  };
}
