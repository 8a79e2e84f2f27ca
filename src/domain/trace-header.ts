/** The only definition of how a trace is carried to Temporal: a header with a W3C `traceparent`. Runs in the workflow sandbox too. */
import type { Payload } from "@temporalio/common";

export const TRACE_HEADER = "traceparent";

const TRACEPARENT = /^([0-9a-f]{2}-[0-9a-f]{32}-)[0-9a-f]{16}(-[0-9a-f]{2})$/;

/** More than a `traceparent` has as JSON. */
const MAX_BYTES = 64;
const decoder = new TextDecoder();

/** What a client of ours wrote into the header; undefined for anything else. A header passes no codec, and whoever may call Temporal can write it. */
export function carriedTraceparent(header: Payload | null | undefined): string | undefined {
  if (!header?.data || header.data.byteLength > MAX_BYTES) return undefined;
  try {
    const value: unknown = JSON.parse(decoder.decode(header.data));
    return typeof value === "string" && TRACEPARENT.test(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The span of a workflow's run: 16 hexadecimal digits that every replay finds again. The end of a run's id is random. */
export function spanIdOfRun(runId: string): string {
  return runId.replaceAll("-", "").slice(-16);
}

/** The same trace, below another span. What is no `traceparent` comes back as it is. */
export function withSpanId(traceparent: string, spanId: string): string {
  return traceparent.replace(TRACEPARENT, `$1${spanId}$2`);
}
