/**
 * What the log says of an error: a white list, because messages and fields of foreign errors quote what they
 * choked on, such as a document's text or the row that broke a constraint.
 */
import { DomainError } from "../domain/errors.ts";
import { ExpectedFailure, needsNoStack } from "../domain/expected-failure.ts";

export interface ErrorFields {
  /** The class. */
  readonly type: string;
  /** Our code, Node's, gRPC's, or Postgres's SQLSTATE. */
  readonly code?: string | number | undefined;
  /** The name of the constraint of the database that was broken. */
  readonly constraint?: string | undefined;
  /** Only of our own classes and of Node's errors of the system. */
  readonly message?: string | undefined;
  /** The lines of the stack below the message. */
  readonly stack?: string | undefined;
  readonly cause?: ErrorFields | undefined;
  /** The first errors of an `AggregateError`. */
  readonly errors?: readonly ErrorFields[] | undefined;
}

/** What is set as a name in a program; text has spaces. */
const NAME = /^[\w$.:-]{1,80}$/;
/** A line of V8's stacks. Strict, because a line of a message may begin like one. */
const FRAME =
  /^ {4}at (?:async )?(?:(?:new )?[\w$.#<>]{1,120}(?: \[as [\w$.#<>]{1,80}\])? \()?(?:(?:file:\/\/|node:|\/|[A-Za-z]:\\)[^()\s]{1,300}:\d+:\d+|<anonymous>|native|index \d+)\)?$/;
/** No real chain is longer; one may also lead back to itself. */
const DEEPEST_CAUSE = 5;
const MOST_ERRORS = 5;
const MOST_FRAMES = 30;

/**
 * Describes anything that was thrown, with its causes. An outage or an expected failure is described by what
 * it says, without a stack.
 * @see test/process/log.test.ts
 */
export function errorFields(thrown: unknown): ErrorFields {
  return fieldsOf(thrown, { depth: 0, withStack: true });
}

interface Position {
  /** How many errors this one is a cause of. */
  readonly depth: number;
  readonly withStack: boolean;
}

function fieldsOf(thrown: unknown, { depth, withStack }: Position): ErrorFields {
  // Errors of the workflow sandbox come from another realm, so `instanceof Error` is false for them.
  if (typeof thrown !== "object" || thrown === null) return { type: typeof thrown };
  const error = thrown as Partial<Record<string, unknown>>;
  const hasStack = withStack && !needsNoStack(thrown);
  const causes = { depth: depth + 1, withStack: hasStack };
  return {
    type: errorName(thrown.constructor?.name) ?? errorName(error["name"]) ?? "Error",
    code: codeOf(error["code"]),
    constraint: errorName(error["constraint"]),
    message: messageOf(thrown),
    stack: hasStack ? framesOf(error["stack"], error["message"]) : undefined,
    ...(depth < DEEPEST_CAUSE ? causesOf(error, causes) : {}),
  };
}

function causesOf(
  { cause, errors }: Partial<Record<string, unknown>>,
  position: Position,
): Pick<ErrorFields, "cause" | "errors"> {
  return {
    cause: cause === undefined || cause === null ? undefined : fieldsOf(cause, position),
    errors: Array.isArray(errors)
      ? errors.slice(0, MOST_ERRORS).map((one: unknown) => fieldsOf(one, position))
      : undefined,
  };
}

function messageOf(thrown: object): string | undefined {
  if (thrown instanceof DomainError || thrown instanceof ExpectedFailure) return thrown.message;
  return isOfSystem(thrown) ? thrown.message : undefined;
}

/** An error that Node made of a failed call of the system: its message has the call, path or address. */
function isOfSystem(thrown: object): thrown is NodeJS.ErrnoException {
  return (
    thrown instanceof Error &&
    "errno" in thrown &&
    typeof thrown.errno === "number" &&
    "syscall" in thrown &&
    errorName(thrown.syscall) !== undefined
  );
}

/** The last lines of the stack that are frames. The message before them may have changed since. */
function framesOf(stack: unknown, message: unknown): string | undefined {
  if (typeof stack !== "string") return undefined;
  const messageAt = typeof message === "string" && message !== "" ? stack.indexOf(message) : -1;
  const below = messageAt < 0 ? stack : stack.slice(messageAt + String(message).length);
  const lines = below.trimEnd().split("\n");
  const first = lines.findLastIndex((line) => !FRAME.test(line)) + 1;
  const frames = lines.slice(first, first + MOST_FRAMES);
  return frames.length === 0 ? undefined : frames.join("\n");
}

function errorName(value: unknown): string | undefined {
  return typeof value === "string" && NAME.test(value) ? value : undefined;
}

function codeOf(value: unknown): string | number | undefined {
  return typeof value === "number" ? value : errorName(value);
}
