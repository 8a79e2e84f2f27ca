/**
 * Keeps the turns of this process in memory, from their first model call until their bookkeeping workflow has
 * adopted their end.
 */
import { LRUCache } from "lru-cache";
import type { AdoptedEnd, TurnsInMemory } from "../../../activities/chat.ts";
import { DomainError } from "../../../domain/errors.ts";
import type { StepResult } from "../../../domain/work/turn.ts";
import type { Turn } from "../turn.ts";

export interface OpenTurns extends TurnsInMemory {
  add(turn: Turn): void;
  /** Lets go of a turn that nothing will adopt. */
  release(turnId: string): void;
  /**
   * Waits while too many turns have ended and are not adopted yet.
   * @throws DomainError `overloaded` after three seconds.
   */
  room(signal: AbortSignal): Promise<void>;
  /** `open` counts all turns in memory, `ended` those of them that have ended. */
  counts(): { open: number; ended: number };
  all(): Turn[];
  /** Resolves when no turn is left, or after `timeoutMs`. */
  drained(timeoutMs: number): Promise<void>;
}

/** Ended turns that may wait for their workflow at once. */
const ENDED_MAX = 512;
const WAIT_FOR_ROOM_MS = 3_000;
/**
 * An ended turn that nothing adopts, because its workflow was ended from outside, is let go of after this.
 */
const KEPT_MS = 60_000;
/** How many last steps of ended turns are kept to answer a repeated activity; each is a few bytes. */
const ENDS_KEPT = 1_000;

/** @see test/api/turns/bookkeeping/open-turns.test.ts */
export function createOpenTurns(): OpenTurns {
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

  return {
    add(turn) {
      const turnId = turn.row.id;
      turns.set(turnId, turn);
      void turn.result.then(() => {
        if (!turns.has(turnId)) return;
        const timer = setTimeout(() => release(turnId), KEPT_MS);
        ended.set(turnId, timer);
      });
    },
    release,
    async room(signal) {
      const until = Date.now() + WAIT_FOR_ROOM_MS;
      while (ended.size >= ENDED_MAX) {
        signal.throwIfAborted();
        const leftMs = until - Date.now();
        if (leftMs <= 0)
          throw new DomainError("overloaded", "Too many chat turns are under way.", { retryAfterSeconds: 1 });
        await released.wait(leftMs, signal);
      }
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
  /** Resolves with the next `fire`, when `signal` is aborted, or after `timeoutMs`. */
  wait(timeoutMs: number, signal?: AbortSignal): Promise<void>;
}

function createSignal(): Signal {
  const waiting = new Set<() => void>();
  return {
    fire() {
      for (const wake of waiting) wake();
    },
    wait: (timeoutMs, signal) =>
      new Promise((resolve) => {
        const wake = (): void => {
          clearTimeout(timer);
          waiting.delete(wake);
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        const timer = setTimeout(wake, timeoutMs);
        signal?.addEventListener("abort", wake, { once: true });
        waiting.add(wake);
      }),
  };
}
