/** Ends the task of a parser process that takes too long, and says whose fault that is. */
import { DomainError } from "../../domain/errors.ts";
import { starvedError, wasStarved } from "../../process/standstill.ts";
import { processorSeconds } from "./process-usage.ts";

/** A process that had this share of its time limit to compute was not kept from the end of its task. */
const COMPUTED_SHARE = 0.5;

interface TimeLimit {
  readonly pid: number;
  /** Milliseconds. */
  readonly timeoutMs: number;
  /** Called at most once: with `starved` if this machine left the process no time, else with `timeout`. */
  readonly onLate: (error: DomainError) => void;
  /** Processor time of a process; 0 if it cannot be told. */
  readonly secondsOf?: (pid: number) => Promise<number>;
}

/** @returns what ends the watch. */
export function limitTime({ pid, timeoutMs, onLate, secondsOf = processorSeconds }: TimeLimit): () => void {
  const before = secondsOf(pid);
  let isOver = false;
  const judge = async (): Promise<void> => {
    const computedMs = 1_000 * ((await secondsOf(pid)) - (await before));
    if (isOver) return;
    const late = new DomainError("timeout", `Parsing took more than ${Math.round(timeoutMs / 1_000)} s.`);
    const isExcused = wasStarved(timeoutMs) && computedMs < COMPUTED_SHARE * timeoutMs;
    onLate(isExcused ? starvedError(late) : late);
  };
  const timer = setTimeout(() => void judge(), timeoutMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
