/**
 * The service's timings for tests: a fifth of {@link file://../../../src/domain/work/timings.ts}, so that a
 * killed process is missed after two seconds and not after ten. Processes get them by the Node condition
 * `quick-timings`, vitest by an alias; the bundle of workflows is built with those of its process.
 */
import * as production from "../../../src/domain/work/timings.ts";

const FACTOR = 5;
/** What a busy machine can miss is never shorter. */
const SHORTEST_DEADLINE_MS = 2_000;

type Timings<Name extends string> = Readonly<Record<Name, number>>;

function scaled<Name extends string>(timings: Timings<Name>, shortestMs: number): Timings<Name> {
  const entries = Object.entries<number>(timings).map(([name, ms]) => [
    name,
    Math.max(shortestMs, ms / FACTOR),
  ]);
  return Object.fromEntries(entries) as Timings<Name>;
}

export const DEADLINES = scaled(production.DEADLINES, SHORTEST_DEADLINE_MS);
export const PAUSES = scaled(production.PAUSES, 0);
