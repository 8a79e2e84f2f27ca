/** Maps a thrown error to a failure for Temporal. Messages of unknown errors are left out of the history. */
import { ApplicationFailure } from "@temporalio/common";
import { DomainError } from "../domain/errors.ts";

export function asActivityFailure(error: unknown): Error {
  if (error instanceof DomainError) {
    return ApplicationFailure.create({
      type: error.code,
      message: error.message,
      nonRetryable: error.class === "hopeless",
    });
  }
  return ApplicationFailure.create({
    type: "internal",
    message: "Internal error; the worker's log has the cause.",
  });
}
