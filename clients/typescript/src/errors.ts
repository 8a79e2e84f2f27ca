/** What the client throws: one class for each kind of refusal, all of them a `HoldfastError`. */
import type { components } from "./schema.ts";

type Document = components["schemas"]["Document"];
export type ErrorCode = components["schemas"]["ErrorCode"];

interface ErrorFacts {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly param?: string | undefined;
  readonly docUrl?: string | undefined;
  readonly requestId?: string | undefined;
  readonly document?: Document | undefined;
  readonly answer?: unknown;
  readonly cause?: unknown;
}

/** A refusal of the service, a request without an answer, or the failure of a document's processing. */
export class HoldfastError extends Error {
  /** The HTTP status; undefined if there was no answer, or if a document was accepted and its run failed. */
  readonly status: number | undefined;
  /**
   * `document_not_found`, `rate_limited` and the like; of a document that failed `encrypted`, `no_text`, …
   */
  readonly code: ErrorCode | (string & {}) | undefined;
  /** The field of the request that is at fault. */
  readonly param: string | undefined;
  /** The page that explains the code. */
  readonly docUrl: string | undefined;
  /** The `X-Request-Id` of the answer, which the service's log has too. */
  readonly requestId: string | undefined;
  /** The document whose processing failed, or was waited for in vain. */
  readonly document: Document | undefined;
  /** The body of a refusal. */
  readonly answer: unknown;

  constructor(message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? {} : { cause: facts.cause });
    this.name = "HoldfastError";
    this.status = facts.status;
    this.code = facts.code;
    this.param = facts.param;
    this.docUrl = facts.docUrl;
    this.requestId = facts.requestId;
    this.document = facts.document;
    this.answer = facts.answer;
  }
}

/** 400 and 422: the request is not valid, or cannot be served as it is. */
export class BadRequestError extends HoldfastError {
  override name = "BadRequestError";
}

/** 401: the credential is missing, wrong, revoked or expired. */
export class AuthenticationError extends HoldfastError {
  override name = "AuthenticationError";
}

/** 403: the caller may not do this. */
export class PermissionDeniedError extends HoldfastError {
  override name = "PermissionDeniedError";
}

/** 404: it does not exist, or is out of the caller's reach. */
export class NotFoundError extends HoldfastError {
  override name = "NotFoundError";
}

/** 409 and 412: it was changed meanwhile, or its state does not allow this. */
export class ConflictError extends HoldfastError {
  override name = "ConflictError";
}

/** 429: too many requests, or a budget is used up. */
export class RateLimitError extends HoldfastError {
  override name = "RateLimitError";
  /** The seconds after which to ask again, if the service said so. */
  readonly retryAfter: number | undefined;

  constructor(message: string, facts: ErrorFacts & { readonly retryAfter?: number | undefined } = {}) {
    super(message, facts);
    this.retryAfter = facts.retryAfter;
  }
}

/** 5xx: the service, or something that it needs, is out of order. */
export class ServerError extends HoldfastError {
  override name = "ServerError";
}

/**
 * No answer: a wrong address, no network, a connection that broke, or CORS. `cause` has what `fetch` threw.
 */
export class ConnectionError extends HoldfastError {
  override name = "ConnectionError";
}

/** `timeoutMs` was over before the document was ready. It is still processed. */
export class WaitTimeoutError extends HoldfastError {
  override name = "WaitTimeoutError";
}

const CLASSES: Readonly<Record<number, typeof HoldfastError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  412: ConflictError,
  422: BadRequestError,
  429: RateLimitError,
};

/** The error that a refusal becomes. */
export function refusalOf(response: Response, answer: unknown): HoldfastError {
  const { status } = response;
  const body = fieldsOf(answer);
  const error = fieldsOf(body["error"]);
  const retryAfter = Number(response.headers.get("retry-after") ?? undefined);
  const facts = {
    status,
    answer,
    code: textOf(error["code"]) ?? textOf(body["code"]),
    param: textOf(error["param"]),
    docUrl: textOf(error["doc_url"]),
    requestId: response.headers.get("x-request-id") ?? undefined,
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : undefined,
  };
  const message = textOf(error["message"]) ?? textOf(body["detail"]) ?? describe(status, answer);
  const Refusal = CLASSES[status] ?? (status >= 500 ? ServerError : HoldfastError);
  return new Refusal(message, facts);
}

/** What a proxy in between answers is often no JSON. */
function describe(status: number, answer: unknown): string {
  const text = typeof answer === "string" ? answer : JSON.stringify(answer ?? "");
  return `${status}: ${text.slice(0, 500)}`;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
