/** Caches the lists of segments' chunks in memory. A segment never changes, so its list is read once. */
import { type SegmentChunks, unpackChunks } from "./posting-blocks.ts";
import { createTimeSlice } from "../../process/time-slice.ts";

/** Bounds the cache: chunks of all lists, 12 bytes each. The least recently searched spaces go first. */
const MOST_CHUNKS = 4_000_000;

export type SegmentLists = ReadonlyMap<number, SegmentChunks>;

const NONE: SegmentLists = new Map();
const bySpace = new Map<number, SegmentLists>();
let kept = 0;

const sizeOf = (lists: SegmentLists): number =>
  [...lists.values()].reduce((sum, list) => sum + list.runs.length, 0);

/**
 * Returns the cached lists of the space. A reader that asks the database for the missing ones must pass this
 * object on to {@link listsOf}, since other readers may change the cache in the meantime.
 */
export function knownLists(spaceNum: number): SegmentLists {
  return bySpace.get(spaceNum) ?? NONE;
}

/** A segment that the transaction sees, with its packed list unless that is cached. */
interface SeenSegment {
  readonly num: number;
  readonly packed: Buffer | null;
}

/** Returns the lists of the segments that a transaction sees, and of no others, which keeps tenants apart. */
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
