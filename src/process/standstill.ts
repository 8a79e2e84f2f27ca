/**
 * Measures how long this process's event loop stands still, and for how much of that it had no processor.
 * With it, a time limit that has run out because this machine is busy is told from one that has run out
 * because somebody else does not answer.
 */
import { DomainError } from "../domain/errors.ts";

const TICK_MS = 100;
const SECOND_MS = 1_000;
/** The longest window that may be asked about: the longest time limit of a parser. */
const KEPT_SECONDS = 900;
/**
 * On two cores, where other programs kept a load of 17, a worker of low priority had 2 % of the time no
 * processor when it wanted one; 34 % beside four more busy loops, and one of ordinary priority 11 %.
 */
const STARVED_SHARE = 0.08;
/** A time limit that stood still for this share of its time has measured nothing but that. */
const STOOD_STILL_SHARE = 0.2;
const RETRY_AFTER_SECONDS = 5;

interface Second {
  readonly endedAt: number;
  /** Milliseconds that the loop was late. */
  readonly stoodStillMs: number;
  /** Those of them in which its thread computed nothing. */
  readonly starvedMs: number;
}

interface Clocks {
  readonly now: () => number;
  /** Milliseconds of processor time that the thread of the loop has used. */
  readonly cpuMs: () => number;
}

export interface StandstillMeter {
  /** Call it every 100 ms. */
  tick(): void;
  /** Milliseconds within the last `ms` that the loop stood still. */
  stoodStillMs(ms: number): number;
  /** Milliseconds within the last `ms` that the loop stood still without a processor. */
  starvedMs(ms: number): number;
}

export function createStandstillMeter({ now, cpuMs }: Clocks): StandstillMeter {
  const seconds: Second[] = [];
  const bornAt = now();
  let tickedAt = bornAt;
  let cpuAt = cpuMs();
  let openedAt = bornAt;
  let stoodStillMs = 0;
  let starvedMs = 0;
  const late = (): number => Math.max(0, now() - tickedAt - TICK_MS);
  const starved = (): number => Math.max(0, late() - (cpuMs() - cpuAt));
  const sum = (ms: number, part: "stoodStillMs" | "starvedMs"): number => {
    const since = now() - ms;
    const first = seconds.findLastIndex(({ endedAt }) => endedAt <= since) + 1;
    return seconds.slice(first).reduce((total, second) => total + second[part], 0);
  };
  return {
    tick() {
      stoodStillMs += late();
      starvedMs += starved();
      tickedAt = now();
      cpuAt = cpuMs();
      if (tickedAt - openedAt < SECOND_MS) return;
      seconds.push({ endedAt: tickedAt, stoodStillMs, starvedMs });
      if (seconds.length > KEPT_SECONDS) seconds.shift();
      openedAt = tickedAt;
      stoodStillMs = 0;
      starvedMs = 0;
    },
    // What has not come to a tick yet counts too: whoever asks may be the first to run after a standstill.
    stoodStillMs: (ms) => Math.min(ms, sum(ms, "stoodStillMs") + stoodStillMs + late()),
    starvedMs: (ms) => Math.min(ms, sum(ms, "starvedMs") + starvedMs + starved()),
  };
}

const OF_PROCESS: Clocks = {
  now: () => performance.now(),
  cpuMs() {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  },
};

interface Watch {
  readonly meter: StandstillMeter;
  readonly livedMs: () => number;
}

let watch: Watch | undefined;

/**
 * Starts to measure. Before, nothing counts as a standstill.
 * @param clocks those of the process by default
 * @returns what ends it
 */
export function watchStandstill(clocks: Clocks = OF_PROCESS): () => void {
  const startedAt = clocks.now();
  const meter = createStandstillMeter(clocks);
  const before = watch;
  watch = { meter, livedMs: () => clocks.now() - startedAt };
  const timer = setInterval(() => meter.tick(), TICK_MS).unref();
  return () => {
    clearInterval(timer);
    watch = before;
  };
}

/** The share of the last `ms` in which the event loop stood still without a processor, from 0 to 1. */
export function starvedShare(ms: number): number {
  return watch === undefined ? 0 : watch.meter.starvedMs(ms) / ms;
}

/** Whether this process had too little processor time in the last `ms`. False if it is younger. */
export function wasStarved(ms: number): boolean {
  return watch !== undefined && watch.livedMs() >= ms && starvedShare(ms) >= STARVED_SHARE;
}

/** Whether a time limit of `ms` that has just run out measured this process rather than the other side. */
export function stoodStill(ms: number): boolean {
  if (watch === undefined) return false;
  return watch.meter.stoodStillMs(ms) / ms >= STOOD_STILL_SHARE || wasStarved(ms);
}

/** What is thrown when time ran out because this service stood still, instead of an outage. */
export function starvedError(cause?: unknown): DomainError {
  return new DomainError("starved", "This service does not have enough CPU time.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  });
}
