/** The expected failures of an embedded start. */
import { ExpectedFailure } from "../domain/expected-failure.ts";
import { HOPELESS_EXIT } from "../process/stop.ts";

/** The message says what is wrong and what to do about it. */
export class StartError extends ExpectedFailure {
  constructor(message: string, cause?: unknown) {
    super(message, cause);
    this.name = "StartError";
  }
}

/** A part said by its exit code that another start cannot help until somebody changes something. */
export class HopelessStartError extends StartError {
  constructor(message: string) {
    super(message);
    this.name = "HopelessStartError";
  }
}

/** @param ended how a process ended, as `Running.exited` says it */
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
