/** The only list of the turns that this process holds: from their first model call until their books have adopted the end. */
import { LRUCache } from "lru-cache";
import type { AdoptedEnd, HeldTurns } from "../../../activities/chat.ts";
import { DomainError } from "../../../domain/errors.ts";
import type { StepResult } from "../../../domain/work/turn.ts";
import type { Turn } from "../turn.ts";

export interface OpenTurns extends HeldTurns {
  add(turn: Turn): void;
  /** Lets go of a turn that nothing will adopt. */
  release(turnId: string): void;
  /** Waits while too many turns are open behind their answers. @throws DomainError `overloaded` after the longest wait. */
  room(signal: AbortSignal): Promise<void>;
  /** Turns that are held, and those of them whose answer is out. */
  counts(): { open: number; behind: number };
  all(): Turn[];
  /** Resolves when no turn is held, or `timeoutMs` have passed. */
  drained(timeoutMs: number): Promise<void>;
}

const BEHIND_MAX = 512;
const WAIT_FOR_ROOM_MS = 3_000;
/** An end that nothing adopts (its workflow was ended from outside) is kept no longer than this. */
const KEPT_MS = 60_000;
/** Of turns with tools: each is a word and a half. */
const ENDS_KEPT = 1_000;

export function createOpenTurns(): OpenTurns {
  const held = new Map<string, Turn>();
  const behind = new Map<string, NodeJS.Timeout>();
  const waiting = new Set<() => void>();
  const ends = new LRUCache<string, StepResult>({ max: ENDS_KEPT });

  const release = (turnId: string): void => {
    clearTimeout(behind.get(turnId));
    behind.delete(turnId);
    held.delete(turnId);
    for (const wake of waiting) wake();
  };
  const untilChanged = (timeoutMs: number, signal?: AbortSignal): Promise<void> =>
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
    });

  return {
    add(turn) {
      held.set(turn.row.id, turn);
      void turn.result.then(() => {
        if (held.has(turn.row.id))
          behind.set(
            turn.row.id,
            setTimeout(() => release(turn.row.id), KEPT_MS),
          );
      });
    },
    release,
    async room(signal) {
      const until = Date.now() + WAIT_FOR_ROOM_MS;
      while (behind.size >= BEHIND_MAX) {
        signal.throwIfAborted();
        const leftMs = until - Date.now();
        if (leftMs <= 0)
          throw new DomainError("overloaded", "Too many chat turns are under way.", { retryAfterSeconds: 1 });
        await untilChanged(leftMs, signal);
      }
    },
    counts: () => ({ open: held.size, behind: behind.size }),
    all: () => [...held.values()],
    async drained(timeoutMs) {
      const until = Date.now() + timeoutMs;
      while (held.size > 0 && Date.now() < until) await untilChanged(until - Date.now());
    },
    async adopt(turnId): Promise<AdoptedEnd> {
      const turn = held.get(turnId);
      if (!turn) return "unknown";
      const end = await turn.firstPart;
      if (turn.status === undefined) return "handed_over";
      release(turnId);
      return end === "handed_over" ? turn.status : end;
    },
    async step(turnId, no, results) {
      const turn = held.get(turnId);
      if (!turn) return ends.get(turnId) ?? { type: "unknown" };
      const step = await turn.step(no, results);
      if (step.type !== "ended") return step;
      // What is asked once more after an answer that did not arrive is answered once more.
      ends.set(turnId, step);
      release(turnId);
      return step;
    },
    abortedSignal: (turnId) => held.get(turnId)?.aborted,
  };
}
