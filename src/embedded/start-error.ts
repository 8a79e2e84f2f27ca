/** What a start of the embedded parts can expect to go wrong, and small helpers around errors. */
import { ExpectedFailure } from "../expected-failure.ts";

/** Says what is wrong and names the way out. */
export class StartError extends ExpectedFailure {
  constructor(message: string, cause?: unknown) {
    super(message, cause);
    this.name = "StartError";
  }
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** True for a system error with this code, e.g. `EEXIST`. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
