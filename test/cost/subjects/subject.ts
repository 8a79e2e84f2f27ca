/**
 * Describes what the cost test measures: a function over text that somebody else wrote, and the shapes that
 * it is given.
 */
import type { Shape } from "../shape.ts";

export interface Subject {
  /** Its name in tables, e.g. `parser MARKDOWN`. */
  readonly name: string;
  readonly shapes: readonly Shape[];
  /** Turns a shape's text into the argument of `run`, e.g. puts a container around it; not measured. */
  prepare?(text: string): unknown;
  /** The work that is measured. */
  run(prepared: unknown): unknown;
  /** Returns what is wrong with the result, whatever it cost, e.g. that it is too large. */
  faultsOf?(result: unknown, text: string): string[];
  /** The maximum number of UTF-16 units of a shape, if longer input is refused before this code sees it. */
  readonly maxLength?: number;
  /** It works in native code outside its thread, so the whole process's time is measured. */
  readonly isNative?: boolean;
  /** It runs in a process of its own, which turns any error into one with a code. */
  readonly endsInItsOwnProcess?: boolean;
}

/** How much is measured; `all` takes minutes. */
export type Extent = "some" | "all";

/** Subjects that come from one table; loaded only in the thread that measures them. */
export type SubjectFamily = (extent: Extent) => Promise<readonly Subject[]>;
