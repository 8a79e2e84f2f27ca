/** Groups documents into transactions of a bounded size. */
import { MAX_PUBLISH_CHUNKS } from "../../domain/work/processing.ts";

/** Groups consecutive items with at most {@link MAX_PUBLISH_CHUNKS} chunks in all; a larger one is alone. */
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
