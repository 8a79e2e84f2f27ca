/** The counters and histograms of all processes. Labels are routes, stages, codes; never callers' texts. */
import { Counter, Histogram } from "prom-client";

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

function histogram<Label extends string>(
  name: string,
  help: string,
  labels: readonly Label[],
): Histogram<Label> {
  return new Histogram({ name, help, labelNames: labels, buckets: SECONDS });
}

function counter<Label extends string>(name: string, help: string, labels: readonly Label[]): Counter<Label> {
  return new Counter({ name, help, labelNames: labels });
}

/** `status` is a class such as `2xx`, or `closed` if the client left before the answer was sent. */
export const httpRequests = histogram(
  "holdfast_http_request_duration_seconds",
  "Time from a request to the end of its response, by route pattern.",
  ["route", "method", "status"],
);

export const rateLimited = counter(
  "holdfast_rate_limited_total",
  "Requests refused by a rate limit, by exhausted budget.",
  ["budget"],
);

/** `tool` is empty for other methods than `tools/call`; `outcome` is ok, tool_error, error or cancelled. */
export const mcpRequests = counter(
  "holdfast_mcp_requests_total",
  "Model Context Protocol requests, by method and tool.",
  ["method", "tool", "outcome"],
);

export const ambiguousLogins = counter(
  "holdfast_ambiguous_logins_total",
  "First logins refused because several organizations have a user with the verified e-mail address.",
  [],
);

export const pipelineStages = histogram(
  "holdfast_pipeline_stage_duration_seconds",
  "Time of one stage of the pipeline: of one document, or of one group of small ones " +
    "where they are written and published together.",
  ["stage"],
);

export const pipelineOutcomes = counter(
  "holdfast_pipeline_outcomes_total",
  "Outcomes of documents per attempt: published, failed or waiting, by error code.",
  ["outcome", "code"],
);

/** `code` is `internal` if nobody expected the failure; `last` is `true` if Temporal tries no more. */
export const activityFailures = counter(
  "holdfast_activity_failures_total",
  "Failed activity attempts, by activity and error code; the log has the cause of each.",
  ["activity", "code", "last"],
);

/** `outcome` is `ok` or an error code. */
export const shownPages = histogram(
  "holdfast_page_duration_seconds",
  "Time to render a page or read page sizes when they are not cached.",
  ["outcome"],
);

export const searchStages = histogram(
  "holdfast_search_stage_duration_seconds",
  "Duration of one search stage.",
  ["stage"],
);

/** `outcome` is `ok`, an error code (`provider_rate_limited`: a 429), or `aborted` if nobody waited. */
export const providerCalls = histogram(
  "holdfast_provider_call_duration_seconds",
  "Duration of one model call, to the end of its response.",
  ["operation", "outcome"],
);

export const providerFirstEvent = histogram(
  "holdfast_provider_first_event_seconds",
  "Time until a chat model's first event.",
  [],
);

export const providerTokens = counter(
  "holdfast_provider_tokens_total",
  "Tokens as counted by model providers.",
  ["operation", "direction"],
);

/** `reason` is `rejected` (a 400, 413 or 422 of the provider) or `unusable` (an answer of no use). */
export const refusedTexts = counter(
  "holdfast_provider_refused_texts_total",
  "Texts rejected by a provider that accepts others.",
  ["operation", "reason"],
);

export const cacheLookups = counter(
  "holdfast_cache_lookups_total",
  "Cache look-ups of embedded questions and chunks, and of rendered pages.",
  ["cache", "result"],
);

export const poolWaits = histogram("holdfast_pool_wait_seconds", "Time to get a database connection.", [
  "pool",
]);

export const chatTurns = histogram("holdfast_chat_turn_duration_seconds", "Duration of a chat turn.", [
  "status",
]);

/**
 * `outcome` is `delivered`, or why not: the class of the answer's status such as `status_5xx`, `redirect`,
 * `timeout`, `unreachable`, `private_target`.
 */
export const webhookAttempts = histogram(
  "holdfast_webhook_attempt_duration_seconds",
  "Duration of one attempt to deliver an event to a webhook.",
  ["outcome"],
);

export const eventDelays = histogram(
  "holdfast_event_delay_seconds",
  "Time from a change until a waiting stream gets its event.",
  [],
);

export const logLinesDropped = counter(
  "holdfast_log_lines_dropped_total",
  "Log lines that could not be written, for example because the disk is full.",
  [],
);

/** `what` is the kind of payload; `reason` is `unsealed`, `moved`, `damaged` or `key_gone`. */
export const refusedPayloads = counter(
  "holdfast_refused_payloads_total",
  "Payloads from Temporal that were not encrypted for the place where they were found.",
  ["what", "reason"],
);

export const receiptsIssued = counter("holdfast_receipts_issued_total", "Citation receipts signed.", []);

/** `status` is what was answered: `same`, `superseded`, `deleted`, `not_reachable` or `invalid`. */
export const receiptsVerified = counter(
  "holdfast_receipts_verified_total",
  "Receipts verified for callers, by result.",
  ["status"],
);
