/** Turns failures of model providers into domain errors. */
import { APIConnectionError, APIConnectionTimeoutError, APIError } from "openai";
import { DomainError, type ErrorCode } from "../../domain/errors.ts";
import { parseRetryAfter, parseRetryAfterMs } from "../../domain/retry-after.ts";

/** A refusal that one of several texts may have caused, which a split finds; not of credentials or models. */
export class MayBeOfOneText extends DomainError {}

/**
 * An outage that a text may have caused: the provider, or what runs its model, broke while it worked on it.
 * One that says that it is down, cannot be reached, times out or wants another key is not among these.
 */
export class ProviderBroke extends DomainError {}

/**
 * Looks like an outage, but the provider answers other requests at the same time. A request for a single text
 * waits as in an outage; one for several texts is split.
 */
export class FailedWhileOthersSucceed extends DomainError {}

/** Malformed, too large, or not to be processed (RFC 9110, sections 15.5.1, 15.5.14 and 15.5.21). */
export const STATUSES_OF_ONE_TEXT = new Set([400, 413, 422]);

/** An internal error, or a gateway whose model went away (RFC 9110, sections 15.6.1 and 15.6.3). */
const STATUSES_OF_BREAKING = new Set([500, 502]);

/** No connection, or no answer in time: no text causes these. */
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

/** Seconds to wait, from `retry-after-ms` or `Retry-After`; undefined if neither can be read. */
export function retryAfterSeconds(headers: Headers | undefined, now = Date.now()): number | undefined {
  return (
    parseRetryAfterMs(headers?.get("retry-after-ms")) ?? parseRetryAfter(headers?.get("retry-after"), now)
  );
}

/** Wrong credentials and unpaid accounts are outages: operators mend them, no document is at fault. */
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

/** The provider's code if it is an identifier; anything else may quote what was sent. */
function identifier(value: unknown): string | undefined {
  return typeof value === "string" && /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/.test(value) ? value : undefined;
}

/** A chain of causes may be a circle. */
const MAX_CAUSES = 5;

function systemCode(error: unknown): string | undefined {
  let at = error;
  for (let depth = 0; at instanceof Error && depth < MAX_CAUSES; depth++) {
    const code = identifier((at as NodeJS.ErrnoException).code);
    if (code !== undefined) return code;
    at = at.cause;
  }
  return undefined;
}

const inBrackets = (code: string | undefined): string => (code === undefined ? "" : ` (${code})`);

export function providerTimeout(afterMs: number): DomainError {
  return new DomainError("provider_timeout", `The model provider did not answer within ${afterMs / 1000} s.`);
}

/** An answer that breaks the protocol; `what` names the fault and never quotes the answer. */
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

/** The error of a connection that broke while a body was read; undefined for any other error. */
function brokenConnection(error: unknown): DomainError | undefined {
  const code = systemCode(error);
  // fetch throws these if a body ends early, and gives no code for some of the reasons.
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
 * What to throw for a failed call to the provider: the reason of the caller's own `signal` if that is
 * aborted, a domain error for a failure of the provider, and any other error as it is. Messages hold at most
 * the status and an identifier, since a provider's own words may quote what was sent; for the same reason the
 * original is not kept as the cause.
 *
 * @example `test/models/provider/error.test.ts`
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
