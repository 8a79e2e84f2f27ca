/** The only translation of what was thrown into an HTTP answer. Its twin for workflows is activities/failure.ts. */
import { DomainError, type ErrorCode } from "../domain/errors.ts";
import { type Problem, ValidationProblems, valueError } from "../schema/problem.ts";

export interface ErrorAnswer {
  readonly status: number;
  readonly body: { readonly detail: unknown };
  readonly headers: Readonly<Record<string, string>>;
  /** True where nobody expected it: the log gets the cause. */
  readonly isUnexpected: boolean;
}

const DEFAULT_RETRY_AFTER_SECONDS = 5;

/** Never shows a stack, SQL or the cause. */
export function answerError(error: unknown): ErrorAnswer {
  const problems = problemsOf(error);
  if (problems !== null) return { status: 422, body: { detail: problems.map(present) }, headers: {}, isUnexpected: false };
  if (error instanceof DomainError && error.code !== "internal") {
    return { status: error.status, body: { detail: error.message }, headers: headersOf(error), isUnexpected: false };
  }
  return { status: 500, body: { detail: "Internal Server Error" }, headers: {}, isUnexpected: true };
}

/** A 422 always has a list of problems, also where only the database could tell that something is wrong. */
function problemsOf(error: unknown): readonly Problem[] | null {
  if (error instanceof ValidationProblems) return error.problems;
  return error instanceof DomainError && error.status === 422 ? [valueError(["body"], error.message)] : null;
}

function headersOf(error: DomainError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.status === 401) headers["WWW-Authenticate"] = "Bearer";
  if (error.retryAfterSeconds !== undefined || error.status === 429 || error.status === 503) {
    headers["Retry-After"] = String(Math.max(1, Math.ceil(error.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS)));
  }
  if (NOT_TO_BE_RETRIED.has(error.code)) headers["x-should-retry"] = "false";
  return headers;
}

/** Failures with a status that clients retry by themselves, where that cannot help. */
const NOT_TO_BE_RETRIED: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["rejected_by_provider", "turn_lost"]);

const MAX_ECHO_CHARACTERS = 1_000;
const SECRET_FIELD = /(^|_)(secret|password|token|key|authorization|credentials)$/i;

function present({ type, loc, msg, input, ctx }: Problem): Record<string, unknown> {
  return { type, loc, msg, ...(input === undefined ? {} : { input: echo(input, loc) }), ...(ctx === undefined ? {} : { ctx }) };
}

/** The input as it may be repeated: bounded, and no secret. */
function echo(input: unknown, loc: Problem["loc"]): unknown {
  if (SECRET_FIELD.test(String(loc.at(-1))) && typeof input === "string") return "[redacted]";
  if (typeof input === "string") return input.length > MAX_ECHO_CHARACTERS ? `${input.slice(0, MAX_ECHO_CHARACTERS).replace(/[\ud800-\udbff]$/, "")}…` : input;
  if (typeof input !== "object" || input === null) return input;
  if (holdsSecret(input) || JSON.stringify(input).length > MAX_ECHO_CHARACTERS) return Array.isArray(input) ? [] : {};
  return input;
}

function holdsSecret(input: object): boolean {
  return Object.keys(input).some((key) => SECRET_FIELD.test(key));
}
