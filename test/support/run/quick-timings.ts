/**
 * The service's timings for tests: a fifth of the pauses and two fifths of the deadlines and sweeps of {@link
 * file://../../../src/domain/work/timings.ts}, so that a killed process is missed after four seconds and not
 * after ten. Processes get them by the Node condition `quick-timings`, vitest by an alias; the bundle of
 * workflows is built with those of its process.
 */
import * as production from "../../../src/domain/work/timings.ts";

const PAUSE_FACTOR = 1 / 5;
/** With a fifth of the ten seconds of a heartbeat, a machine that also lints took living workers for dead. */
const DEADLINE_FACTOR = 2 / 5;
const SHORTEST_DEADLINE_MS = 2_000;

type Timings<Name extends string> = Readonly<Record<Name, number>>;

function scaled<Name extends string>(timings: Timings<Name>, factor: number, shortestMs = 0): Timings<Name> {
  const entries = Object.entries<number>(timings).map(([name, ms]) => [
    name,
    Math.max(shortestMs, ms * factor),
  ]);
  return Object.fromEntries(entries) as Timings<Name>;
}

export const DEADLINES = scaled(production.DEADLINES, DEADLINE_FACTOR, SHORTEST_DEADLINE_MS);
const { sweep, processLease } = production.PAUSES;
export const PAUSES = {
  ...scaled(production.PAUSES, PAUSE_FACTOR),
  // Each process does these also when nothing happens: by a fifth, an idle stack took a tenth of a core.
  ...scaled({ sweep, processLease }, DEADLINE_FACTOR),
};
