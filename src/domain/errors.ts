/**
 * All error codes: each one's HTTP status and its class, which decides whether work is tried again; and the
 * reasons that callers are told where a code alone would not say what is wrong.
 */
import type { Budget } from "./budget.ts";

/**
 * - `hopeless`: trying again with the same input cannot help; fail at once.
 * - `outage`: something else is down or busy; wait, for as long as it lasts.
 * - `starved`: this service had too little processor time; nothing else is down, and no document is to blame.
 * - `unknown`: nobody classed it; try again, bounded by time.
 */
export type ErrorClass = "hopeless" | "outage" | "starved" | "unknown";

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
  starved: {
    retryForMs: Infinity,
    retriedFor: "as long as it lasts, 1 s to 30 s apart",
    callerSees: "the run continues; its `waiting_for` is `starved`, and it is not suspected",
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
  request_timeout: hopeless(408),
  conflict: hopeless(409),
  turn_lost: hopeless(409),
  cursor_expired: hopeless(410),
  version_not_kept: hopeless(410),
  precondition_failed: hopeless(412),
  uri_too_long: hopeless(414),
  range_not_satisfiable: hopeless(416),
  invalid: hopeless(422),
  rate_limited: hopeless(429),
  headers_too_large: hopeless(431),
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
  // This service itself is too slow.
  starved: { status: 503, class: "starved" },
  // A failure that nobody expected.
  internal: { status: 500, class: "unknown" },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

/** What answers say in `error.code` where it is narrower than the code. */
const REASONS = {
  // What the path or the body names does not exist, or is out of the caller's reach.
  agent_not_found: "not_found",
  answer_not_found: "not_found",
  api_key_not_found: "not_found",
  batch_not_found: "not_found",
  chunk_not_found: "not_found",
  delivery_not_found: "not_found",
  document_not_found: "not_found",
  event_not_found: "not_found",
  file_not_found: "not_found",
  folder_not_found: "not_found",
  model_not_found: "not_found",
  organization_not_found: "not_found",
  page_not_found: "not_found",
  previous_response_not_found: "not_found",
  response_not_found: "not_found",
  route_not_found: "not_found",
  run_not_found: "not_found",
  space_not_found: "not_found",
  user_not_found: "not_found",
  vector_store_not_found: "not_found",
  version_not_found: "not_found",
  webhook_not_found: "not_found",
  // Who asks.
  authentication_required: "unauthenticated",
  invalid_api_key: "unauthenticated",
  invalid_token: "unauthenticated",
  key_expired: "unauthenticated",
  key_revoked: "unauthenticated",
  login_required: "unauthenticated",
  key_out_of_scope: "permission_denied",
  key_owner_left: "permission_denied",
  not_an_operator: "permission_denied",
  organization_deleted: "permission_denied",
  wrong_organization: "permission_denied",
  // A change that does not fit what is there.
  already_ended: "bad_request",
  already_exists: "bad_request",
  folder_cycle: "bad_request",
  folder_not_empty: "bad_request",
  key_not_rollable: "bad_request",
  last_admin: "bad_request",
  last_owner: "bad_request",
  limit_reached: "bad_request",
  name_reserved: "bad_request",
  private_space: "bad_request",
  version_not_restorable: "bad_request",
  webhook_not_active: "bad_request",
  wrong_space: "bad_request",
  // What was sent cannot be read, or is too much.
  body_too_large: "bad_request",
  context_length_exceeded: "bad_request",
  malformed_body: "bad_request",
  malformed_request: "bad_request",
  storage_quota_exceeded: "bad_request",
  response_quota_exceeded: "rate_limited",
  token_budget_exceeded: "rate_limited",
  too_many_open: "rate_limited",
  request_under_way: "overloaded",
  shutting_down: "overloaded",
} as const satisfies Record<string, ErrorCode>;

/** What answers say in `error.code`. */
export type ErrorReason = keyof typeof REASONS | ErrorCode;

const isCode = (reason: ErrorReason): reason is ErrorCode => reason in ERRORS;

/** All that answers may say in `error.code`, each with its HTTP status. */
export const ERROR_REASONS: Readonly<Record<ErrorReason, number>> = Object.fromEntries(
  [...Object.keys(ERRORS), ...Object.keys(REASONS)].map((reason) => [
    reason,
    ERRORS[codeOf(reason as ErrorReason)].status,
  ]),
) as Record<ErrorReason, number>;

function codeOf(reason: ErrorReason): ErrorCode {
  return isCode(reason) ? reason : REASONS[reason];
}

interface DomainErrorOptions {
  /** The seconds after which trying again may help, if the other side named them. */
  readonly retryAfterSeconds?: number | undefined;
  readonly budget?: Budget | undefined;
  /** The cursor to go on from, of `cursor_expired`. */
  readonly oldestCursor?: string | undefined;
  /** The field of the request that is at fault, as `error.param` names it: `model`. */
  readonly param?: string | undefined;
  /** The HTTP status, if it is not the code's: some endpoints refuse credentials with 403. */
  readonly status?: number | undefined;
  readonly cause?: unknown;
}

/** A failure with a code of {@link ERRORS}. Callers see its message: no document text, chat or secrets. */
export class DomainError extends Error {
  readonly code: ErrorCode;
  readonly reason: ErrorReason;
  readonly param: string | undefined;
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;
  readonly budget: Budget | undefined;
  readonly oldestCursor: string | undefined;

  constructor(reason: ErrorReason, message: string, options: DomainErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "DomainError";
    this.code = codeOf(reason);
    this.reason = reason;
    this.param = options.param;
    this.status = options.status ?? ERRORS[this.code].status;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.budget = options.budget;
    this.oldestCursor = options.oldestCursor;
  }

  get class(): ErrorClass {
    return ERRORS[this.code].class;
  }

  /** Whether it is over by itself sometime, so that waiting helps. */
  get passes(): boolean {
    return this.class === "outage" || this.class === "starved";
  }
}

/** The class of anything that was thrown; `unknown` if it is not a {@link DomainError}. */
export function errorClass(error: unknown): ErrorClass {
  return error instanceof DomainError ? error.class : "unknown";
}
