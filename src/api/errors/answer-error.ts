/** Translates errors into HTTP answers. activities/failure.ts does the same for workflows. */
import { policyItem } from "../../domain/budget.ts";
import { DomainError, type ErrorReason } from "../../domain/errors.ts";
import { type Problem, ValidationProblems, valueError } from "../../schema/requests/problem.ts";
import { describeError, describeProblems, type ErrorBody, errorGuide } from "./error-body.ts";
import { presentProblem } from "../validation/present.ts";

export interface ErrorAnswer {
  readonly status: number;
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;
  /** True for an error that is a defect: it is logged with its cause. */
  readonly isUnexpected: boolean;
}

const DEFAULT_RETRY_AFTER_SECONDS = 5;

/** The status of a request that is not as it should be: OpenAI's clients expect 400 where FastAPI has 422. */
const PROBLEM_STATUS = { holdfast: 422, openai: 400 } as const;

export type ErrorForm = keyof typeof PROBLEM_STATUS;

/** Never shows a stack, SQL or the cause. @param guide where each code's page is. Default: this server. */
export function answerError(error: unknown, guide = errorGuide(), form: ErrorForm = "holdfast"): ErrorAnswer {
  const problems = problemsOf(error);
  if (problems !== null) {
    const reason = error instanceof DomainError ? error.reason : "invalid";
    return {
      status: PROBLEM_STATUS[form],
      body: { detail: problems.map(presentProblem), error: describeProblems(problems, reason, guide) },
      headers: {},
      isUnexpected: false,
    };
  }
  const shown = error instanceof DomainError && error.code !== "internal" ? error : null;
  const known = shown ?? new DomainError("internal", "Internal Server Error");
  const { status, code, oldestCursor } = known;
  return {
    status,
    body: {
      detail: known.message,
      error: describeError(known, guide),
      ...(oldestCursor === undefined ? {} : { code, oldest: oldestCursor }),
    },
    headers: headersOf(known),
    isUnexpected: shown === null,
  };
}

/** A 422 always has a list of problems, even if the database found the fault. */
function problemsOf(error: unknown): readonly Problem[] | null {
  if (error instanceof ValidationProblems) return error.problems;
  return error instanceof DomainError && error.status === 422
    ? [valueError(["body", ...(error.param === undefined ? [] : [error.param])], error.message)]
    : null;
}

function headersOf(error: DomainError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.status === 401) headers["WWW-Authenticate"] = "Bearer";
  if (error.retryAfterSeconds !== undefined || RETRY_LATER.has(error.status)) {
    headers["Retry-After"] = String(
      Math.max(1, Math.ceil(error.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS)),
    );
  }
  if (error.budget !== undefined) headers["RateLimit-Policy"] = policyItem(error.budget);
  if (NOT_TO_BE_RETRIED.has(error.reason)) headers["x-should-retry"] = "false";
  return headers;
}

/** Statuses that always say when to try again. */
const RETRY_LATER: ReadonlySet<number> = new Set([429, 503, 507]);

/** Errors that a retry cannot help, with a status that clients retry by themselves. */
const NOT_TO_BE_RETRIED: ReadonlySet<ErrorReason> = new Set<ErrorReason>([
  "rejected_by_provider",
  "response_quota_exceeded",
  "turn_lost",
]);
