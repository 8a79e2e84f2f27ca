/** The only place that decides which failures of a process or a command are expected: they are told in a line, without a stack. */
import { DomainError } from "./errors.ts";

/** A failure whose message is all that its reader needs: it says what is wrong and names the way out. */
export class ExpectedFailure extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ExpectedFailure";
  }
}

/** Of the system: the machine or somebody else is in the way, never our code. Node's message names the path or the address. */
const SYSTEM_CODES = new Set([
  "EACCES",
  "EADDRINUSE",
  "EADDRNOTAVAIL",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EDQUOT",
  "EHOSTUNREACH",
  "EIO",
  "EMFILE",
  "ENETUNREACH",
  "ENFILE",
  "ENOSPC",
  "ENOTDIR",
  "ENOTFOUND",
  "EPERM",
  "EROFS",
  "ETIMEDOUT",
]);
/** Postgres: an undefined table, column, function or schema, and a missing right. */
const NOT_MIGRATED = new Set(["42P01", "42703", "42883", "3F000", "42501"]);
/** gRPC: DEADLINE_EXCEEDED, PERMISSION_DENIED, UNAVAILABLE, UNAUTHENTICATED. */
const TEMPORAL_AWAY = new Set([4, 7, 14, 16]);
/** As the server and the core say it. */
const NO_NAMESPACE = /^(?:5 NOT_FOUND: )?Namespace (\S{1,200}) (?:is|was) not found/;
/** A cause has causes of its own; no real chain is longer. */
const DEEPEST_CAUSE = 5;

/**
 * What to print of a failure that can be expected, e.g. wrong settings or a database that is away: without a stack, and a single line
 * unless it lists mistakes. Never a secret: no connection string, no value of a setting.
 * @returns undefined where nobody expected it: then its stack is worth printing.
 */
export function describeFailure(error: unknown): string | undefined {
  if (error instanceof ExpectedFailure) return error.message;
  if (error instanceof DomainError) return describeDomainError(error);
  return describeForeign(error, 0);
}

/**
 * What the log says of a failure that somebody else's outage is the reason of, or that names its way out: its stack is of no use to anybody.
 * @returns undefined where the stack is worth a line. Unlike at a start, a table that is missing or a file that is closed may be our mistake.
 */
export function describeOutage(error: unknown): string | undefined {
  if (error instanceof ExpectedFailure || (error instanceof DomainError && error.class === "outage"))
    return describeFailure(error);
  return error instanceof Error ? describeTemporal(error) : undefined;
}

/** True where trying again is of no use until somebody changes something: not for what the machine or somebody else may mend meanwhile, as a port that is taken. */
export function isHopeless(error: unknown): boolean {
  return error instanceof ExpectedFailure && !SYSTEM_CODES.has(codeOf(error.cause));
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

function describeDomainError(error: DomainError): string | undefined {
  if (error.code === "internal") return undefined;
  const reason = error.class === "outage" ? reasonOf(error.cause) : undefined;
  return reason === undefined ? error.message : `${error.message.replace(/\.$/, "")}: ${reason}`;
}

/** Why somebody else is away, in their own words, of which only the first line is taken. */
function reasonOf(cause: unknown): string | undefined {
  if (cause instanceof AggregateError && cause.message === "") return reasonOf(cause.errors[0]);
  if (!(cause instanceof Error) || cause.message === "") return undefined;
  return cause.message.split("\n", 1)[0];
}

function describeForeign(error: unknown, depth: number): string | undefined {
  if (!(error instanceof Error) || depth > DEEPEST_CAUSE) return undefined;
  const known = describeSystem(error) ?? describeTemporal(error);
  // What wraps a failure of the system, as `fetch failed` does, says less than what it wraps.
  return known ?? describeForeign(error instanceof AggregateError ? error.errors[0] : error.cause, depth + 1);
}

function describeSystem(error: Error): string | undefined {
  const code = codeOf(error);
  if (SYSTEM_CODES.has(code)) return reasonOf(error);
  if (!NOT_MIGRATED.has(code) || !("severity" in error)) return undefined;
  return `The database lacks migrations of this version, or this login lacks a right (${reasonOf(error)}): run \`holdfast migrate\` first.`;
}

function describeTemporal(error: Error): string | undefined {
  const namespace = NO_NAMESPACE.exec(error.message)?.[1];
  if (namespace !== undefined)
    return `Temporal has no namespace ${namespace}: create it, or set TEMPORAL_NAMESPACE to one that it has.`;
  const isAway =
    "details" in error && "code" in error && typeof error.code === "number" && TEMPORAL_AWAY.has(error.code);
  return isAway || error.name === "TransportError"
    ? `Temporal is not reachable: ${reasonOf(error)}`
    : undefined;
}
