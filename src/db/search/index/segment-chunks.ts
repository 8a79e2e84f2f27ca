/** The only place that keeps the lists of segments' chunks in memory: a segment never changes, so that its list is read once. */
import { type SegmentChunks, unpackChunks } from "./posting-blocks.ts";
import { createTimeSlice } from "../time-slice.ts";

/** Chunks of all lists together, 12 bytes each; the spaces that were asked longest ago go first. */
const MOST_CHUNKS = 4_000_000;

/** Lists of a space by segment. */
export type SegmentLists = ReadonlyMap<number, SegmentChunks>;

const NONE: SegmentLists = new Map();
const bySpace = new Map<number, SegmentLists>();
let kept = 0;

const sizeOf = (lists: SegmentLists): number =>
  [...lists.values()].reduce((sum, list) => sum + list.runs.length, 0);

/** What is known of the space. Whoever asks the database for the rest keeps this: others may change what is kept meanwhile. */
export function knownLists(spaceNum: number): SegmentLists {
  return bySpace.get(spaceNum) ?? NONE;
}

/** A segment that the transaction sees, with its packed list where that is not known. */
interface SeenSegment {
  readonly num: number;
  readonly packed: Buffer | null;
}

/** The lists of the segments that a transaction sees, and of no others, so that nothing passes the wall between tenants. */
export async function listsOf(
  spaceNum: number,
  known: SegmentLists,
  seen: readonly SeenSegment[],
): Promise<SegmentLists> {
  if (seen.length === 0) return NONE;
  const endOfSlice = createTimeSlice();
  const lists = new Map<number, SegmentChunks>();
  for (const { num, packed } of seen) {
    const list = packed === null ? known.get(num) : unpackChunks(packed);
    if (list !== undefined) lists.set(num, list);
    await endOfSlice();
  }
  keep(spaceNum, lists);
  return lists;
}

function keep(spaceNum: number, lists: SegmentLists): void {
  kept += sizeOf(lists) - sizeOf(knownLists(spaceNum));
  bySpace.delete(spaceNum);
  bySpace.set(spaceNum, lists);
  for (const [oldest, gone] of bySpace) {
    if (kept <= MOST_CHUNKS || oldest === spaceNum) return;
    kept -= sizeOf(gone);
    bySpace.delete(oldest);
  }
}
