/** What the stages of searches cost, by the histogram that `searchStage` of src/telemetry/stage.ts fills. */
import type { SearchStage } from "../../../src/telemetry/stage.ts";

interface Spent {
  readonly seconds: number;
  readonly searches: number;
}

/** What each stage took since its process has started. */
export type Stages = ReadonlyMap<string, Spent>;

const SAMPLE =
  /^holdfast_search_stage_duration_seconds_(sum|count)\{(?:[^}]*,)?stage="([^"]+)"[^}]*\} (\S+)$/gm;

/** @param page a process's metrics in Prometheus' text format */
export function stagesIn(page: string): Stages {
  const stages = new Map<string, Spent>();
  for (const [, kind, stage, value] of page.matchAll(SAMPLE)) {
    const known = stages.get(stage!) ?? { seconds: 0, searches: 0 };
    stages.set(stage!, { ...known, [kind === "sum" ? "seconds" : "searches"]: Number(value) });
  }
  return stages;
}

/** The mean milliseconds of a stage from one reading to another; NaN if none was measured in between. */
export function meanMs(before: Stages, after: Stages, stage: SearchStage): number {
  const [from, to] = [before, after].map((all) => all.get(stage) ?? { seconds: 0, searches: 0 });
  return ((to!.seconds - from!.seconds) * 1_000) / (to!.searches - from!.searches);
}
