/** Gathers turns into groups with one bookkeeping workflow each: a start costs more than a turn in it. */
import type { Turn } from "../turn.ts";

const STARTS_IN_FLIGHT = 2;
const GROUP_MAX = 512;
/** A group starts this long after the one before, or as soon as {@link GROUP_ENOUGH} turns have gathered. */
const STARTS_APART_MS = 500;
const GROUP_ENOUGH = 256;
/** A start waits this long for its turns' first model calls, which it slows down on a small machine. */
const AFTER_FIRST_CALL_MS = 20;

/**
 * Batches naturally: turns that come while starts are in flight go with the next one.
 * @param start starts the workflow of one group; it must never reject.
 * @returns a function that adds a turn to the next group.
 */
export function gatherTurns(start: (group: readonly Turn[]) => Promise<void>): (turn: Turn) => void {
  const waiting: Turn[] = [];
  let inFlight = 0;
  let lastStartMs = -STARTS_APART_MS;
  let waitingSinceMs = 0;
  let pause: NodeJS.Timeout | undefined;

  const startGroups = (): void => {
    while (pause === undefined && inFlight < STARTS_IN_FLIGHT && waiting.length > 0) {
      const startMs = Math.max(lastStartMs + STARTS_APART_MS, waitingSinceMs + AFTER_FIRST_CALL_MS);
      const waitMs = waiting.length >= GROUP_ENOUGH ? 0 : startMs - performance.now();
      if (waitMs > 0) return startGroupsIn(waitMs);
      lastStartMs = performance.now();
      inFlight += 1;
      void start(waiting.splice(0, GROUP_MAX)).finally(() => {
        inFlight -= 1;
        startGroups();
      });
    }
  };
  const startGroupsIn = (waitMs: number): void => {
    pause = setTimeout(() => {
      pause = undefined;
      startGroups();
    }, waitMs);
  };
  return (turn) => {
    waiting.push(turn);
    if (waiting.length === 1) waitingSinceMs = performance.now();
    if (waiting.length >= GROUP_ENOUGH) {
      clearTimeout(pause);
      pause = undefined;
    }
    startGroups();
  };
}
