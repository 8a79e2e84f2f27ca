/** The only rule by which many documents become transactions of a bounded size. */
import { MAX_PUBLISH_CHUNKS } from "../../domain/work/processing.ts";

/** Groups of consecutive items that have at most {@link MAX_PUBLISH_CHUNKS} chunks together; an item that has more is a group by itself. */
export function inGroups<T>(items: readonly T[], chunksOf: (item: T) => number): T[][] {
  const groups: T[][] = [];
  let chunks = 0;
  for (const item of items) {
    if (groups.length === 0 || chunks + chunksOf(item) > MAX_PUBLISH_CHUNKS) {
      groups.push([]);
      chunks = 0;
    }
    groups.at(-1)!.push(item);
    chunks += chunksOf(item);
  }
  return groups;
}
