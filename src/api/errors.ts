/** Translates errors into HTTP answers. activities/failure.ts does the same for workflows. */
import { policyItem } from "../domain/budget.ts";
import { DomainError, type ErrorCode } from "../domain/errors.ts";
import { type Problem, ValidationProblems, valueError } from "../schema/requests/problem.ts";

export interface ErrorAnswer {
  readonly status: number;
  readonly body: { readonly detail: unknown; readonly code?: ErrorCode; readonly oldest?: string };
  readonly headers: Readonly<Record<string, string>>;
  /** True for an error that is a defect: it is logged with its cause. */
  readonly isUnexpected: boolean;
}

const DEFAULT_RETRY_AFTER_SECONDS = 5;

/** Never shows a stack, SQL or the cause. */
export function answerError(error: unknown): ErrorAnswer {
  const problems = problemsOf(error);
  if (problems !== null)
    return { status: 422, body: { detail: problems.map(present) }, headers: {}, isUnexpected: false };
  if (error instanceof DomainError && error.code !== "internal") {
    return {
      status: error.status,
      body: {
        detail: error.message,
        ...(error.oldestCursor === undefined ? {} : { code: error.code, oldest: error.oldestCursor }),
      },
      headers: headersOf(error),
      isUnexpected: false,
    };
  }
  return { status: 500, body: { detail: "Internal Server Error" }, headers: {}, isUnexpected: true };
}

/** A 422 always has a list of problems, even if the database found the fault. */
function problemsOf(error: unknown): readonly Problem[] | null {
  if (error instanceof ValidationProblems) return error.problems;
  return error instanceof DomainError && error.status === 422 ? [valueError(["body"], error.message)] : null;
}

function headersOf(error: DomainError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.status === 401) headers["WWW-Authenticate"] = "Bearer";
  if (error.retryAfterSeconds !== undefined || error.status === 429 || error.status === 503) {
    headers["Retry-After"] = String(
      Math.max(1, Math.ceil(error.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS)),
    );
  }
  if (error.budget !== undefined) headers["RateLimit-Policy"] = policyItem(error.budget);
  if (NOT_TO_BE_RETRIED.has(error.code)) headers["x-should-retry"] = "false";
  return headers;
}

/** Errors that a retry cannot help, with a status that clients retry by themselves. */
const NOT_TO_BE_RETRIED: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["rejected_by_provider", "turn_lost"]);

const MAX_ECHO_CHARACTERS = 1_000;
const SECRET_FIELD = /(^|_)(secret|password|token|keys?|authorization|credentials)$/i;

function present({ type, loc, msg, input, ctx }: Problem): Record<string, unknown> {
  const shown = { type, loc: loc.map(shortened), msg: shortened(msg) };
  return {
    ...shown,
    ...(input === undefined ? {} : { input: echo(input, loc) }),
    ...(ctx === undefined
      ? {}
      : { ctx: Object.fromEntries(Object.entries(ctx).map(([name, value]) => [name, shortened(value)])) }),
  };
}

/** Returns the input as the answer may repeat it: short, and without secrets. */
function echo(input: unknown, loc: Problem["loc"]): unknown {
  if (SECRET_FIELD.test(String(loc.at(-1)))) {
    if (typeof input === "string") return "[redacted]";
    if (Array.isArray(input)) return [];
  }
  if (typeof input !== "object" || input === null) return shortened(input);
  let isShown = echoed.get(input);
  if (isShown === undefined) {
    isShown = fitsEcho(input) && !holdsSecret(input);
    echoed.set(input, isShown);
  }
  if (isShown) return input;
  return Array.isArray(input) ? [] : {};
}

/** Decisions by object: many problems may show the same object, which may be as large as a body. */
const echoed = new WeakMap<object, boolean>();

/** Keys and quotes of the input may be as long as a body. */
function shortened<T>(value: T): T | string {
  if (typeof value !== "string" || value.length <= MAX_ECHO_CHARACTERS) return value;
  return `${value.slice(0, MAX_ECHO_CHARACTERS).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** True if the value is short as JSON. Looks at no more of it than may be shown, however large it is. */
function fitsEcho(input: object): boolean {
  let left = MAX_ECHO_CHARACTERS;
  const open: unknown[] = [input];
  while (open.length > 0 && left >= 0) {
    const value = open.pop();
    left -= typeof value === "string" ? value.length : 1;
    if (typeof value !== "object" || value === null) continue;
    // Each member takes at least one character.
    const members = Object.entries(value).slice(0, MAX_ECHO_CHARACTERS);
    left -= members.reduce((sum, [key]) => sum + (Array.isArray(value) ? 1 : key.length), 0);
    for (const [, member] of members) open.push(member);
  }
  return left >= 0 && JSON.stringify(input).length <= MAX_ECHO_CHARACTERS;
}

function holdsSecret(input: object): boolean {
  return Object.keys(input).some((key) => SECRET_FIELD.test(key));
}
