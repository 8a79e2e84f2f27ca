/** Turns a violated unique index into an error that callers are shown. */
import { DomainError } from "../domain/errors.ts";
import { violates } from "./pool.ts";

/**
 * Waits for `statement`.
 * @throws DomainError `bad_request` with `detail` if it violates the unique index `index`. Postgres has then
 *   aborted the transaction.
 */
export async function unlessTaken<T>(index: string, detail: string, statement: Promise<T>): Promise<T> {
  try {
    return await statement;
  } catch (error) {
    throw violates(error, index) ? new DomainError("already_exists", detail, { cause: error }) : error;
  }
}
