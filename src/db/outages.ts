/** Tells errors that mean "Postgres is away" from all others. */
import { DomainError } from "../domain/errors.ts";
import { ExpectedFailure } from "../domain/expected-failure.ts";

const RETRY_AFTER_SECONDS = 2;

/** A statement that writes, in a transaction that may only read. */
const READ_ONLY = "25006";

/** Codes of Node for the network, and of Postgres; class 08 (connection exceptions) counts as a whole. */
const OUTAGE_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  // The server is stopped, crashes or starts.
  "57P01",
  "57P02",
  "57P03",
  // Too many connections, a full disk, a failed read or write, a transaction that idled for too long.
  "53300",
  "53100",
  "58030",
  "25P03",
  // The server takes no writes, such as a standby after a failover.
  READ_ONLY,
  // The login is refused, such as while its password is changed.
  "28P01",
  "28000",
  // The database does not exist, such as before `createdb` or during a restore.
  "3D000",
]);

/** The beginnings of messages that `pg` throws without a code; of two that fit, the longer one first. */
const OUTAGE_MESSAGES = [
  "Connection terminated unexpectedly",
  "Connection terminated due to connection timeout",
  "Connection terminated",
  "timeout exceeded when trying to connect",
  "Client has encountered a connection error",
  "Query read timeout",
  "Cannot use a pool after calling end",
];

/**
 * @param isReadOnly true if the transaction itself was begun as read-only: a write in it is our own mistake,
 * and no sign of a standby.
 * @returns `database_unavailable` with `error` as its cause if Postgres is away, else `error` itself.
 */
export function asDatabaseError(error: unknown, isReadOnly = false): unknown {
  if (!(error instanceof Error) || error instanceof DomainError) return error;
  const cause = outageIn(error);
  if (cause === undefined || (isReadOnly && "code" in error && error.code === READ_ONLY)) return error;
  return new DomainError("database_unavailable", "The database is not reachable.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  });
}

/** @returns what the log may say of the outage; undefined if the error is none. */
function outageIn(error: Error): Error | undefined {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (OUTAGE_CODES.has(code) || code.startsWith("08")) return error;
  const known = OUTAGE_MESSAGES.find((start) => error.message.startsWith(start));
  return known === undefined ? undefined : new ExpectedFailure(known, error);
}
