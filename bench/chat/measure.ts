/** Measures the targets of the chat bench in turn, in slices, and what the service does meanwhile. */
import { until } from "../../test/support/until.ts";
import type { Bench, Cell, EventLoopDelay, Name } from "./cell.ts";
import { type Measured, type Target, both, load } from "./load.ts";

/**
 * The targets take turns, so that all see the same machine: the service for a slice, the others for a third.
 */
export const SLICE_SECONDS = 15;
const OTHERS_SHARE = 1 / 3;
const WARM_UP_SECONDS = 3;
const DRAIN_MS = 60_000;
/** A slice is measured again if the number of open turns grows by more than this and by this share. */
const GROWTH_TURNS = 16;
const GROWTH_SHARE = 0.25;
const SLICES_AGAIN = 2;
const SAMPLE_MS = 1_000;

/** Calls `look` every second until `work` ends. @returns what work and the looks returned */
async function watched<T>(look: () => Promise<number>, work: Promise<T>): Promise<[T, number[]]> {
  const seen: number[] = [];
  const sample = async (): Promise<void> => {
    const count = await look().catch(() => undefined);
    if (count !== undefined) seen.push(count);
  };
  const timer = setInterval(() => void sample(), SAMPLE_MS);
  return [await work.finally(() => clearInterval(timer)), seen];
}

/** True if the second half is about as high as the first. */
function isFlat(seen: readonly number[]): boolean {
  const middle = Math.floor(seen.length / 2);
  const mean = (part: readonly number[]): number =>
    part.reduce((sum, count) => sum + count, 0) / Math.max(1, part.length);
  const before = mean(seen.slice(0, middle));
  const after = mean(seen.slice(middle));
  return after - before <= Math.max(GROWTH_TURNS, before * GROWTH_SHARE);
}

interface Slice {
  readonly part: Measured;
  readonly open: readonly number[];
  readonly eventLoop: EventLoopDelay;
  readonly drainMs: number;
}

async function measureSlice(
  target: Target,
  concurrency: number,
  seconds: number,
  { openTurns, openWorkflows, eventLoop }: Bench,
): Promise<Slice> {
  await eventLoop();
  const [part, open] = await watched(openTurns, load(target, concurrency, seconds));
  const endedAt = performance.now();
  const delay = await eventLoop();
  await until("the turns' workflows have drained", async () => (await openWorkflows()) === 0, DRAIN_MS);
  return { part, open, eventLoop: delay, drainMs: performance.now() - endedAt };
}

/**
 * Measures all targets in turn for `seconds`, after each has warmed up. A slice in which the number of open
 * turns grows is measured again, at most {@link SLICES_AGAIN} times in all.
 */
export async function measureCell(
  targets: ReadonlyMap<Name, Target>,
  concurrency: number,
  seconds: number,
  bench: Bench,
): Promise<Cell> {
  const measured = new Map<Name, Measured>();
  const add = (name: Name, part: Measured): void => {
    measured.set(name, both(measured.get(name), part));
  };
  const slices: Slice[] = [];
  const { holdfast, ...others } = Object.fromEntries(targets) as Record<Name, Target>;
  let slicesAgain = 0;
  for (const target of targets.values()) await load(target, concurrency, WARM_UP_SECONDS);
  let spent = 0;
  while (spent < seconds) {
    const length = Math.min(SLICE_SECONDS, seconds - spent);
    const slice = await measureSlice(holdfast, concurrency, length, bench);
    if (!isFlat(slice.open) && slicesAgain < SLICES_AGAIN) {
      slicesAgain += 1;
      continue;
    }
    spent += length;
    slices.push(slice);
    add("holdfast", slice.part);
    for (const [name, target] of Object.entries(others))
      add(name as Name, await load(target, concurrency, length * OTHERS_SHARE));
  }
  const worst = (what: keyof EventLoopDelay): number =>
    Math.max(...slices.map(({ eventLoop }) => eventLoop[what]));
  const drainMs = Math.max(...slices.map((slice) => slice.drainMs));
  return {
    measured,
    openTurns: slices.flatMap(({ open }) => open),
    slicesAgain,
    drainMs,
    eventLoop: { p50: worst("p50"), p99: worst("p99"), max: worst("max") },
  };
}
