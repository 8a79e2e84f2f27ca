/** Says which runs of a scope are seen, and masks the chunks of a list by it. */
import type { SegmentChunks } from "./index/posting-blocks.ts";
import type { SearchScope } from "../db/search/scope.ts";

/** Whether a run is seen by anybody; null if all are. */
export function liveRuns({ hiddenRuns }: Pick<SearchScope, "hiddenRuns">): ((run: number) => boolean) | null {
  if (hiddenRuns.length === 0) return null;
  const hidden = new Set(hiddenRuns);
  return (run) => !hidden.has(run);
}

/** Whether a run is seen by the search, with its filter; null if all are. */
export function visibleRuns(scope: SearchScope): ((run: number) => boolean) | null {
  if (scope.runs === null) return liveRuns({ hiddenRuns: [...scope.hiddenRuns, ...scope.excludedRuns] });
  const isLive = liveRuns(scope);
  const runs = new Set(scope.runs);
  return (run) => runs.has(run) && (isLive === null || isLive(run));
}

/** A 1 for each place of the list whose run is seen, and a 0 for the others; null if all are seen. */
export function maskOf(
  { runs }: SegmentChunks,
  isSeen: ((run: number) => boolean) | null,
): Uint8Array | null {
  if (isSeen === null) return null;
  const mask = new Uint8Array(runs.length);
  let runBefore = -1;
  let verdict = 0;
  let isNarrowing = false;
  for (let place = 0; place < runs.length; place++) {
    const run = runs[place]!;
    // Chunks of one run are next to each other.
    if (run !== runBefore) {
      runBefore = run;
      verdict = isSeen(run) ? 1 : 0;
    }
    mask[place] = verdict;
    isNarrowing ||= verdict === 0;
  }
  return isNarrowing ? mask : null;
}
