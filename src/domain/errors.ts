/** All error codes: each one's HTTP status and its class, which decides whether work is tried again. */
import type { Budget } from "./budget.ts";

/**
 * - `hopeless`: trying again with the same input cannot help; fail at once.
 * - `outage`: something else is down or busy; wait, for as long as it lasts.
 * - `unknown`: nobody classed it; try again, bounded by time.
 */
export type ErrorClass = "hopeless" | "outage" | "unknown";

interface ClassRule {
  /** For how long a run is tried again, in milliseconds since its first attempt began. */
  readonly retryForMs: number;
  /** For the table in docs/operations.md. */
  readonly retriedFor: string;
  readonly callerSees: string;
}

/** How a document's run handles an error of each class. */
export const ERROR_CLASSES: Readonly<Record<ErrorClass, ClassRule>> = {
  hopeless: {
    retryForMs: 0,
    retriedFor: "not at all",
    callerSees: "the run is `failed` at once; the code and the message say what to do",
  },
  outage: {
    retryForMs: Infinity,
    retriedFor: "as long as it lasts, 1 s to 30 s apart, or after `Retry-After` (at most 15 minutes)",
    callerSees: "the run continues; its `waiting_for` is the code",
  },
  unknown: {
    retryForMs: 15 * 60_000,
    retriedFor: "15 minutes, 1 s to 30 s apart",
    callerSees: "`waiting_for` is `internal`, and then the run is `failed` with `internal`",
  },
};

interface ErrorKind {
  readonly status: number;
  readonly class: ErrorClass;
}

const hopeless = (status: number): ErrorKind => ({ status, class: "hopeless" });
const outage = (status: number): ErrorKind => ({ status, class: "outage" });

const ERRORS = {
  // A request that cannot be served as it is.
  bad_request: hopeless(400),
  unauthenticated: hopeless(401),
  permission_denied: hopeless(403),
  not_found: hopeless(404),
  method_not_allowed: hopeless(405),
  conflict: hopeless(409),
  turn_lost: hopeless(409),
  cursor_expired: hopeless(410),
  precondition_failed: hopeless(412),
  range_not_satisfiable: hopeless(416),
  invalid: hopeless(422),
  rate_limited: hopeless(429),
  overloaded: hopeless(503),
  // A document whose processing ends without a new version.
  empty_file: hopeless(422),
  unsupported_file_type: hopeless(422),
  encrypted: hopeless(422),
  corrupt: hopeless(422),
  too_large: hopeless(422),
  timeout: hopeless(422),
  out_of_memory: hopeless(422),
  too_complex: hopeless(422),
  no_text: hopeless(422),
  rejected_by_provider: hopeless(502),
  worker_crashed: hopeless(422),
  superseded: hopeless(409),
  cancelled: hopeless(409),
  // A service that this one depends on is down.
  provider_rate_limited: outage(429),
  provider_timeout: outage(504),
  provider_unavailable: outage(502),
  storage_unavailable: outage(503),
  insufficient_storage: outage(507),
  database_unavailable: outage(503),
  workflows_unavailable: outage(503),
  issuer_unavailable: outage(503),
  // A failure that nobody expected.
  internal: { status: 500, class: "unknown" },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

interface DomainErrorOptions {
  /** The seconds after which trying again may help, if the other side named them. */
  readonly retryAfterSeconds?: number | undefined;
  /** The budget that is used up. */
  readonly budget?: Budget | undefined;
  /** The cursor to go on from, of `cursor_expired`. */
  readonly oldestCursor?: string | undefined;
  readonly cause?: unknown;
}

/**
 * A failure with a code of {@link ERRORS}. Its message is shown to callers: it never holds document text,
 * chat content or secrets.
 */
export class DomainError extends Error {
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;
  readonly budget: Budget | undefined;
  readonly oldestCursor: string | undefined;

  constructor(code: ErrorCode, message: string, options: DomainErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "DomainError";
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.budget = options.budget;
    this.oldestCursor = options.oldestCursor;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  get class(): ErrorClass {
    return ERRORS[this.code].class;
  }
}

/** The class of anything that was thrown; `unknown` if it is not a {@link DomainError}. */
export function errorClass(error: unknown): ErrorClass {
  return error instanceof DomainError ? error.class : "unknown";
}
