/** The header that carries a trace through Temporal: a W3C `traceparent`. Runs in the sandbox too. */
import type { Payload } from "@temporalio/common";

export const TRACE_HEADER = "traceparent";

const TRACEPARENT = /^([0-9a-f]{2}-[0-9a-f]{32}-)[0-9a-f]{16}(-[0-9a-f]{2})$/;

/** More bytes than a `traceparent` has as JSON. */
const MAX_BYTES = 64;
const decoder = new TextDecoder();

/**
 * Reads the header; undefined if it is not a `traceparent`. Headers are not encrypted, and anybody who may
 * call Temporal can write one.
 */
export function carriedTraceparent(header: Payload | null | undefined): string | undefined {
  if (!header?.data || header.data.byteLength > MAX_BYTES) return undefined;
  try {
    const value: unknown = JSON.parse(decoder.decode(header.data));
    return typeof value === "string" && TRACEPARENT.test(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The span id of a workflow's run: the last 16 hex digits of the run id, the same in every replay. */
export function spanIdOfRun(runId: string): string {
  return runId.replaceAll("-", "").slice(-16);
}

/** The same trace with another parent span. Returns anything that is not a `traceparent` as it is. */
export function withSpanId(traceparent: string, spanId: string): string {
  return traceparent.replace(TRACEPARENT, `$1${spanId}$2`);
}
