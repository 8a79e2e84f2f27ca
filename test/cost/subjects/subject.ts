/**
 * What the cost test measures: one function over text that somebody else wrote, with the shapes that it is
 * given.
 */
import type { Shape } from "../shape.ts";

export interface Subject {
  /** Names it in tables: `parser MARKDOWN`. */
  readonly name: string;
  readonly shapes: readonly Shape[];
  /** Turns a shape's text into what `run` takes, e.g. a container around it; not measured. */
  prepare?(text: string): unknown;
  /** The work that is measured. */
  run(prepared: unknown): unknown;
  /** What is wrong with the result, whatever it cost: bounds of what came out. */
  faultsOf?(result: unknown, text: string): string[];
  /** Most UTF-16 units of a shape, where more are refused before this code sees them. */
  readonly maxLength?: number;
  /** Works outside its thread, in native code: the whole process's time counts. */
  readonly isNative?: boolean;
  /** Any error is turned into one with a code by the process that this runs in. */
  readonly endsInItsOwnProcess?: boolean;
}

/** How much is measured: `all` takes minutes. */
export type Extent = "some" | "all";

/** A family of subjects that come from one table, loaded only in the thread that measures them. */
export type SubjectFamily = (extent: Extent) => Promise<readonly Subject[]>;
