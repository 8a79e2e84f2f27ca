/** Keeps this process's turns in memory, from their first model call until a workflow adopts their end. */
import { LRUCache } from "lru-cache";
import type { AdoptedEnd, TurnsInMemory } from "../../../activities/chat.ts";
import type { StepResult } from "../../../domain/work/turn.ts";
import type { Turn } from "../turn.ts";

export interface OpenTurns extends TurnsInMemory {
  add(turn: Turn): void;
  release(turnId: string): void;
  /** Lets go of a turn that has ended, and leaves it to a later workflow. Does nothing the second time. */
  leave(turnId: string): void;
  /** Leaves all turns that have ended to a later workflow. */
  leaveEnded(): void;
  /** `open` counts all turns in memory, `ended` those of them that have ended. */
  counts(): { open: number; ended: number };
  all(): Turn[];
  /** Resolves when no turn is left, or after `timeoutMs`. */
  drained(timeoutMs: number): Promise<void>;
}

/** Ended turns that may wait for their workflow at once; with one more, the first of them waits as a row. */
const ENDED_MAX = 512;
/** After this, an ended turn whose workflow was ended from outside waits as a row. */
const KEPT_MS = 60_000;
/** How many last steps of ended turns are kept to answer a repeated activity; each is a few bytes. */
const ENDS_KEPT = 1_000;

/** @param onLeft called for each turn that is left to a later workflow. */
export function createOpenTurns(onLeft: (turnId: string) => void): OpenTurns {
  const turns = new Map<string, Turn>();
  const ended = new Map<string, NodeJS.Timeout>();
  const released = createSignal();
  const ends = new LRUCache<string, StepResult>({ max: ENDS_KEPT });

  const release = (turnId: string): void => {
    clearTimeout(ended.get(turnId));
    ended.delete(turnId);
    turns.delete(turnId);
    released.fire();
  };
  const leave = (turnId: string): void => {
    if (!turns.has(turnId)) return;
    release(turnId);
    onLeft(turnId);
  };

  return {
    add(turn) {
      const turnId = turn.row.id;
      turns.set(turnId, turn);
      void turn.result.then(() => {
        if (!turns.has(turnId)) return;
        const timer = setTimeout(() => leave(turnId), KEPT_MS);
        ended.set(turnId, timer);
        if (ended.size > ENDED_MAX) leave(ended.keys().next().value!);
      });
    },
    release,
    leave,
    leaveEnded() {
      for (const turnId of ended.keys()) leave(turnId);
    },
    counts: () => ({ open: turns.size, ended: ended.size }),
    all: () => [...turns.values()],
    async drained(timeoutMs) {
      const until = Date.now() + timeoutMs;
      while (turns.size > 0 && Date.now() < until) await released.wait(until - Date.now());
    },
    async adopt(turnId): Promise<AdoptedEnd> {
      const turn = turns.get(turnId);
      if (!turn) return "unknown";
      const end = await turn.firstPart;
      if (turn.status === undefined) return "handed_over";
      // It was left meanwhile, so that its row says whether another workflow has adopted it.
      if (!turns.has(turnId)) return "unknown";
      release(turnId);
      return end === "handed_over" ? turn.status : end;
    },
    async step(turnId, no, results) {
      const turn = turns.get(turnId);
      // Temporal runs the activity again if its result was lost on the way: it gets the same result.
      if (!turn) return ends.get(turnId) ?? { type: "unknown" };
      const step = await turn.step(no, results);
      if (step.type !== "ended") return step;
      ends.set(turnId, step);
      release(turnId);
      return step;
    },
    abortedSignal: (turnId) => turns.get(turnId)?.aborted,
  };
}

interface Signal {
  fire(): void;
  /** Resolves with the next `fire`, or after `timeoutMs`. */
  wait(timeoutMs: number): Promise<void>;
}

function createSignal(): Signal {
  const waiting = new Set<() => void>();
  return {
    fire() {
      for (const wake of waiting) wake();
    },
    wait: (timeoutMs) =>
      new Promise((resolve) => {
        const wake = (): void => {
          clearTimeout(timer);
          waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, timeoutMs);
        waiting.add(wake);
      }),
  };
}
