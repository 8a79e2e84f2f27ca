/** Failures that are expected, such as a wrong setting: reported in one line, without a stack. */
import { DomainError } from "./errors.ts";

/** A failure whose message says all that its reader needs: what is wrong, and what to do about it. */
export class ExpectedFailure extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ExpectedFailure";
  }
}

/** Errors of the system, for which our code is never to blame. Node's message has the path or address. */
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
/** Postgres codes: an undefined table, column, function or schema, and a missing right. */
const NOT_MIGRATED = new Set(["42P01", "42703", "42883", "3F000", "42501"]);
/** gRPC codes: DEADLINE_EXCEEDED, PERMISSION_DENIED, UNAVAILABLE, UNAUTHENTICATED. */
const TEMPORAL_AWAY = new Set([4, 7, 14, 16]);
/** The messages of the server and of the core. */
const NO_NAMESPACE = /^(?:5 NOT_FOUND: )?Namespace (\S{1,200}) (?:is|was) not found/;
/** A bound on chains of causes; no real one is longer. */
const DEEPEST_CAUSE = 5;

/**
 * Describes an expected failure, in one line unless it lists several mistakes. It never contains a secret: no
 * connection string, no value of a setting.
 * @returns undefined if the failure was not expected, so that its stack should be printed.
 */
export function describeFailure(error: unknown): string | undefined {
  if (error instanceof ExpectedFailure) return error.message;
  if (error instanceof DomainError) return describeDomainError(error);
  return describeForeign(error, 0);
}

/**
 * True for a failure whose stack helps nobody: an outage elsewhere, or a message that says what to do. Unlike
 * at a start, a missing table or a closed file may be our own mistake here.
 */
export function needsNoStack(error: unknown): boolean {
  if (error instanceof ExpectedFailure || (error instanceof DomainError && error.passes)) return true;
  return error instanceof Error && describeTemporal(error) !== undefined;
}

/** True if only a change of something helps; false for what may pass, such as a port in use. */
export function isHopeless(error: unknown): boolean {
  return error instanceof ExpectedFailure && !SYSTEM_CODES.has(codeOf(error.cause));
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

function describeDomainError(error: DomainError): string | undefined {
  if (error.code === "internal") return undefined;
  const reason = error.passes ? reasonOf(error.cause) : undefined;
  return reason === undefined ? error.message : `${error.message.replace(/\.$/, "")}: ${reason}`;
}

/** The first line of the other side's own message. */
function reasonOf(cause: unknown): string | undefined {
  if (cause instanceof AggregateError && cause.message === "") return reasonOf(cause.errors[0]);
  if (!(cause instanceof Error) || cause.message === "") return undefined;
  return cause.message.split("\n", 1)[0];
}

function describeForeign(error: unknown, depth: number): string | undefined {
  if (!(error instanceof Error) || depth > DEEPEST_CAUSE) return undefined;
  const known = describeSystem(error) ?? describeTemporal(error);
  // A wrapper such as `fetch failed` says less than the failure that it wraps.
  return known ?? describeForeign(error instanceof AggregateError ? error.errors[0] : error.cause, depth + 1);
}

function describeSystem(error: Error): string | undefined {
  const code = codeOf(error);
  if (SYSTEM_CODES.has(code)) return reasonOf(error);
  if (!NOT_MIGRATED.has(code) || !("severity" in error)) return undefined;
  const reason = reasonOf(error);
  return (
    `The database lacks migrations of this version, or this login lacks a permission (${reason}): ` +
    "run `holdfast migrate` first."
  );
}

function describeTemporal(error: Error): string | undefined {
  const namespace = NO_NAMESPACE.exec(error.message)?.[1];
  if (namespace !== undefined)
    return `Temporal has no namespace ${namespace}: create it, or set TEMPORAL_NAMESPACE to an existing one.`;
  const isAway =
    "details" in error && "code" in error && typeof error.code === "number" && TEMPORAL_AWAY.has(error.code);
  return isAway || error.name === "TransportError"
    ? `Temporal is not reachable: ${reasonOf(error)}`
    : undefined;
}
