/** Tells errors that mean "Postgres is away" from those of a slow service, and from all others. */
import { DomainError } from "../domain/errors.ts";
import { starvedError, stoodStill } from "../process/standstill.ts";
import { ExpectedFailure } from "../domain/expected-failure.ts";

const RETRY_AFTER_SECONDS = 2;

export const CONNECT_TIMEOUT_MS = 5_000;
/** How long a statement may take, and a transaction may idle. */
export const STATEMENT_TIMEOUT_MS = 60_000;

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

/** The messages of `pg` about a connection that was not had in time. */
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  "timeout exceeded when trying to connect",
  "Connection terminated due to connection timeout",
]);
/** Postgres ended a transaction that idled for too long, or a statement that took too long. */
const TOO_LONG: ReadonlySet<string> = new Set(["25P03", "57014"]);
/** When the database last answered this process, on any connection. */
let answeredAt = -Infinity;

/** Call it when the database has answered: as long as it does, a connection that is late is no outage. */
export function noteAnswer(): void {
  answeredAt = performance.now();
}

/** Whether the database has answered this process in the last `ms`, on any connection. */
export function hasAnsweredWithin(ms: number): boolean {
  return performance.now() - answeredAt < ms;
}

/** The beginnings of messages that `pg` throws without a code; of two that fit, the longer one first. */
const OUTAGE_MESSAGES = [
  "Connection terminated unexpectedly",
  "Connection terminated due to connection timeout",
  "Connection terminated",
  "timeout exceeded when trying to connect",
  "Client has encountered a connection error",
  "Client was closed and is not queryable",
  "Query read timeout",
  "Cannot use a pool after calling end",
];

/**
 * @param isReadOnly true if the transaction itself was begun as read-only: a write in it is our own mistake,
 * and no sign of a standby.
 * @returns `starved` or `database_unavailable` with `error` as its cause if this process was too slow or
 *   Postgres is away, else `error` itself.
 */
export function asDatabaseError(error: unknown, isReadOnly = false): unknown {
  if (!(error instanceof Error) || error instanceof DomainError) return error;
  if (isOwnDelay(error)) return starvedError(outageIn(error) ?? error);
  const cause = outageIn(error);
  if (cause === undefined || (isReadOnly && "code" in error && error.code === READ_ONLY)) return error;
  return new DomainError("database_unavailable", "The database is not reachable.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  });
}

/** True if a limit of time ran out because this process stood still, or the database answered others. */
function isOwnDelay(error: Error): boolean {
  if (NOT_CONNECTED.has(error.message))
    return stoodStill(CONNECT_TIMEOUT_MS) || hasAnsweredWithin(CONNECT_TIMEOUT_MS);
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return TOO_LONG.has(code) && stoodStill(STATEMENT_TIMEOUT_MS);
}

/** @returns what the log may say of the outage; undefined if the error is none. */
function outageIn(error: Error): Error | undefined {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (OUTAGE_CODES.has(code) || code.startsWith("08")) return error;
  const known = OUTAGE_MESSAGES.find((start) => error.message.startsWith(start));
  return known === undefined ? undefined : new ExpectedFailure(known, error);
}
