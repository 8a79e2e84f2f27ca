/** The only place where a failure of a model provider becomes a domain error. */
import { APIConnectionError, APIConnectionTimeoutError, APIError } from "openai";
import { DomainError, type ErrorCode } from "../../domain/errors.ts";

/**
 * A refusal that one of several texts may have caused, while the others are as good as ever: the request has to be split to know.
 * Refused credentials, models and addresses are none.
 */
export class MayBeOfOneText extends DomainError {}

/**
 * An outage that a text may have caused: the provider, or what runs its model, broke while it worked. One that says that it is down, that
 * cannot be reached, that has no time or that wants another key is none.
 */
export class ProviderBroke extends DomainError {}

/** What looks like an outage while the provider answers others at the same time: whoever asked waits, and a request of several is split. */
export class FailedBesideOthers extends DomainError {}

/** Malformed, too large, and understood but not to be processed (RFC 9110, sections 15.5.1, 15.5.14 and 15.5.21). */
export const STATUSES_OF_ONE_TEXT = new Set([400, 413, 422]);

/** An internal error, and a gateway whose model has gone away in the middle (RFC 9110, sections 15.6.1 and 15.6.3). */
const STATUSES_OF_BREAKING = new Set([500, 502]);

/** No connection, or no answer in time: that is not of a text. */
const UNREACHED = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
]);

/** A provider that asks for more than a day is asked again after one. */
const MAX_RETRY_AFTER_SECONDS = 86_400;

function seconds(text: string | null | undefined): number | undefined {
  if (text === null || text === undefined || text.trim() === "") return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

/** Seconds to wait by `retry-after-ms`, or `Retry-After` as a number or a date (RFC 9110, section 10.2.3); undefined where neither is sane. */
export function retryAfterSeconds(headers: Headers | undefined, now = Date.now()): number | undefined {
  const milliseconds = seconds(headers?.get("retry-after-ms"));
  const after = headers?.get("retry-after");
  const until = Date.parse(after ?? "");
  const wait =
    (milliseconds === undefined ? undefined : milliseconds / 1000) ??
    seconds(after) ??
    (Number.isNaN(until) ? undefined : (until - now) / 1000);
  return wait === undefined ? undefined : Math.min(Math.max(wait, 0), MAX_RETRY_AFTER_SECONDS);
}

/** Wrong credentials and an unpaid account are outages: an operator can mend them, and no document is at fault. */
const OUTAGE_STATUSES = new Set([401, 402, 403, 409, 425]);

function codeOfStatus(status: number): ErrorCode {
  if (status === 429) return "provider_rate_limited";
  if (status === 408 || status === 504) return "provider_timeout";
  if (status >= 400 && status < 500 && !OUTAGE_STATUSES.has(status)) return "rejected_by_provider";
  return "provider_unavailable";
}

/** An error event inside a stream has no status; its code is all there is. */
function codeOfEvent(code: string | undefined): ErrorCode {
  return code !== undefined && /rate_?limit|quota/i.test(code)
    ? "provider_rate_limited"
    : "provider_unavailable";
}

/** The provider's code where it is an identifier; anything else may quote what was sent. */
function identifier(value: unknown): string | undefined {
  return typeof value === "string" && /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/.test(value) ? value : undefined;
}

function systemCode(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const code = identifier((at as NodeJS.ErrnoException).code);
    if (code !== undefined) return code;
  }
  return undefined;
}

const inBrackets = (code: string | undefined): string => (code === undefined ? "" : ` (${code})`);

export function providerTimeout(afterMs: number): DomainError {
  return new DomainError("provider_timeout", `The model provider did not answer within ${afterMs / 1000} s.`);
}

/** An answer that is not what the protocol promises; `what` names the fault, never its content. */
export function providerGarbage(what: string): DomainError {
  return new ProviderBroke("provider_unavailable", `The model provider's answer cannot be used: ${what}.`);
}

function apiError(error: APIError): DomainError {
  const code = identifier(error.code) ?? identifier(error.type);
  if (typeof error.status !== "number")
    return new DomainError(codeOfEvent(code), `The model provider reported an error${inBrackets(code)}.`);
  const message = `The model provider answered ${error.status}${inBrackets(code)}.`;
  if (STATUSES_OF_ONE_TEXT.has(error.status)) return new MayBeOfOneText("rejected_by_provider", message);
  const options = {
    retryAfterSeconds: retryAfterSeconds(error.headers instanceof Headers ? error.headers : undefined),
  };
  if (STATUSES_OF_BREAKING.has(error.status))
    return new ProviderBroke("provider_unavailable", message, options);
  return new DomainError(codeOfStatus(error.status), message, options);
}

/** A connection that broke while a body was read; undefined for what is no failure of a connection. */
function brokenConnection(error: unknown): DomainError | undefined {
  const code = systemCode(error);
  // fetch says so when a body ends early, and gives no code for some of the reasons.
  const broke =
    code !== undefined || (error instanceof TypeError && /^(terminated|fetch failed)$/.test(error.message));
  return broke
    ? new ProviderBroke(
        "provider_unavailable",
        `The connection to the model provider broke${inBrackets(code)}.`,
      )
    : undefined;
}

/**
 * What to throw for a failure of a call to the provider. Messages hold the status and an identifier at most, since a provider's own
 * words may quote what was sent; for the same reason the original is not kept as the cause. Where the caller's own `signal` is
 * aborted that is what happened, and its reason comes back; what is no failure of a provider comes back as it is.
 */
export function providerError(error: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason;
  if (error instanceof DomainError) return error;
  if (error instanceof APIConnectionTimeoutError)
    return new DomainError("provider_timeout", "The model provider did not answer in time.");
  if (error instanceof APIConnectionError) {
    const code = systemCode(error);
    const Failure = code === undefined || UNREACHED.has(code) ? DomainError : ProviderBroke;
    return new Failure("provider_unavailable", `The model provider cannot be reached${inBrackets(code)}.`);
  }
  if (error instanceof APIError) return apiError(error);
  if (error instanceof SyntaxError) return providerGarbage("it is no valid JSON");
  return brokenConnection(error) ?? error;
}
