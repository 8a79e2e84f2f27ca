/** What a start of the embedded parts can expect to go wrong, and small helpers around errors. */
import { ExpectedFailure } from "../domain/expected-failure.ts";
import { HOPELESS_EXIT } from "../process/stop.ts";

/** Says what is wrong and names the way out. */
export class StartError extends ExpectedFailure {
  constructor(message: string, cause?: unknown) {
    super(message, cause);
    this.name = "StartError";
  }
}

/** Starting again is of no use until somebody changes something: a part said so by its exit code. */
export class HopelessStartError extends StartError {
  constructor(message: string) {
    super(message);
    this.name = "HopelessStartError";
  }
}

/** @param ended how a process ended, in the words of `Running.exited`. */
export function isHopelessEnd(ended: string): boolean {
  return ended.startsWith(`exit code ${HOPELESS_EXIT}`);
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** True for a system error with this code, e.g. `EEXIST`. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
