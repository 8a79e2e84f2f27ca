/** The body of an error: `detail` as FastAPI has it, and `error` as OpenAI's clients read it. */
import { DomainError, type ErrorCode, type ErrorReason } from "../../domain/errors.ts";
import type { Problem } from "../../schema/requests/problem.ts";
import { shorten } from "../validation/present.ts";

/** What OpenAI's clients read. */
export interface ErrorObject {
  readonly message: string;
  readonly type: string;
  readonly code: ErrorReason;
  /** The field of the request that is at fault, such as `messages[0].content`. */
  readonly param: string | null;
  /** The page of the code. */
  readonly doc_url: string;
}

/** `detail` is a text, or the list of a 422's problems. */
export interface ErrorBody {
  readonly detail: unknown;
  readonly error: ErrorObject;
  readonly code?: ErrorCode;
  readonly oldest?: string;
}

/** The address before the name of a code's page; on the same server, if it is not said where that is. */
export const errorGuide = (publicUrl = ""): string => `${publicUrl}/docs/errors/`;

/** The error as OpenAI's clients read it, in answers and in streams. */
export function describeError({ status, reason, message, param }: DomainError, guide: string): ErrorObject {
  return {
    message: reason === "internal" ? "Internal Server Error" : message,
    type: typeOf(status),
    code: reason,
    param: param ?? null,
    doc_url: guide + reason,
  };
}

/** An answer that is made before there is a request to handle. */
export function errorBody(reason: ErrorReason, message: string, guide: string): ErrorBody {
  return { detail: message, error: describeError(new DomainError(reason, message), guide) };
}

/** OpenAI's names, and those of its field where OpenAI has none. */
function typeOf(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

/** Says what is wrong with the first of them, and how many more there are. */
export function describeProblems(
  problems: readonly Problem[],
  reason: ErrorReason,
  guide: string,
): ErrorObject {
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  const param = first === undefined ? null : shorten(paramOf(first.loc));
  const message = `${param === null || param === "" ? "" : `${param}: `}${shorten(first?.msg ?? "")}${more}`;
  return describeError(new DomainError(reason, message, { param: param || undefined }), guide);
}

/** `["body", "messages", 0, "content"]` is `messages[0].content`. */
function paramOf([, ...path]: Problem["loc"]): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`))
    .join("")
    .replace(/^\./, "");
}
