/** The only place that turns a violated unique index into an answer for callers. */
import { DomainError } from "../domain/errors.ts";
import { violates } from "./pool.ts";

/** Waits for `statement`. @throws DomainError `bad_request` with `detail` where it violates the unique index `index`; the transaction is lost then. */
export async function unlessTaken<T>(index: string, detail: string, statement: Promise<T>): Promise<T> {
  try {
    return await statement;
  } catch (error) {
    throw violates(error, index) ? new DomainError("bad_request", detail, { cause: error }) : error;
  }
}
