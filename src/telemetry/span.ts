/** The only place that makes spans; without a tracer each call is its work alone. Attributes are names, codes and counts, never content. */
import {
  type Attributes,
  type Context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  context,
  propagation,
  trace,
} from "@opentelemetry/api";

/** What may be carried from process to process: W3C `traceparent` and `tracestate`. */
export type TraceHeaders = Readonly<Record<string, string>>;

export interface SpanOptions {
  readonly kind?: "internal" | "client" | "server";
  readonly attributes?: Attributes;
  /** Of another process, in the place of the span around; absent or empty: the span around. */
  readonly parent?: TraceHeaders | undefined;
}

const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER } as const;

let tracer: Tracer | undefined;

/** From now on spans are made; undefined ends it. */
export function useTracer(one: Tracer | undefined): void {
  tracer = one;
}

export function isTracing(): boolean {
  return tracer !== undefined;
}

function parentOf(headers: TraceHeaders | undefined): Context {
  return headers?.["traceparent"] === undefined
    ? context.active()
    : propagation.extract(context.active(), headers);
}

/** A span that its caller ends; `run` makes it the one around for what `work` does. */
export interface OpenSpan {
  run<T>(work: () => T): T;
  set(attributes: Attributes): void;
  rename(name: string): void;
  /** Once. `error`: what went wrong, of which its code or name is kept, never its message. */
  end(error?: unknown): void;
}

const NO_SPAN: OpenSpan = {
  run: (work) => work(),
  set: () => undefined,
  rename: () => undefined,
  end: () => undefined,
};

export function openSpan(name: string, options: SpanOptions = {}): OpenSpan {
  if (tracer === undefined) return NO_SPAN;
  const parent = parentOf(options.parent);
  // Only requests begin a trace: what a process does for itself would be noise.
  if (options.kind !== "server" && trace.getSpan(parent) === undefined) return NO_SPAN;
  const span = tracer.startSpan(
    name,
    {
      kind: KINDS[options.kind ?? "internal"],
      ...(options.attributes === undefined ? {} : { attributes: options.attributes }),
    },
    parent,
  );
  const inside = trace.setSpan(parent, span);
  return {
    run: (work) => context.with(inside, work),
    set: (attributes) => void span.setAttributes(attributes),
    rename: (better) => void span.updateName(better),
    end(error) {
      if (error !== undefined) markFailed(span, error);
      span.end();
    },
  };
}

function markFailed(span: Span, error: unknown): void {
  const code =
    error instanceof Error && "code" in error && typeof error.code === "string"
      ? error.code
      : error instanceof Error
        ? error.name
        : "unknown";
  span.setAttribute("error.type", code);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Runs `work` as one span. */
export async function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: OpenSpan) => Promise<T>,
): Promise<T> {
  if (tracer === undefined) return work(NO_SPAN);
  const span = openSpan(name, options);
  try {
    const result = await span.run(() => work(span));
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}

/** Of the span around, for the headers of a request or the row of what is done later; empty without one. */
export function traceHeaders(): TraceHeaders {
  const carrier: Record<string, string> = {};
  if (tracer !== undefined) propagation.inject(context.active(), carrier);
  return carrier;
}

/** The W3C `traceparent` of the span around, for the row of what is done later; null without one. */
export function traceparent(): string | null {
  return traceHeaders()["traceparent"] ?? null;
}

/** Runs `work` below a span that an earlier request began, unless it runs in that request's trace already; null changes nothing. */
export function below<T>(parent: string | null | undefined, work: () => T): T {
  if (tracer === undefined || typeof parent !== "string") return work();
  const current = trace.getActiveSpan()?.spanContext().traceId;
  return current !== undefined && parent.includes(current)
    ? work()
    : context.with(parentOf({ traceparent: parent }), work);
}

interface EndedSpan {
  readonly name: string;
  /** A W3C `traceparent`. */
  readonly parent: string;
  /** Under which others know it already. */
  readonly spanId: string;
  readonly startedAt: Date;
  readonly attributes: Attributes;
  readonly isFailed: boolean;
}

let givenSpanId: string | undefined;

/** The id that the span which is being made must have; undefined: any. */
export function takeGivenSpanId(): string | undefined {
  const id = givenSpanId;
  givenSpanId = undefined;
  return id;
}

/** Makes a span of what has ended now. */
export function recordSpan({ name, parent, spanId, startedAt, attributes, isFailed }: EndedSpan): void {
  if (tracer === undefined) return;
  givenSpanId = spanId;
  const span = tracer.startSpan(
    name,
    { startTime: startedAt, attributes },
    parentOf({ traceparent: parent }),
  );
  givenSpanId = undefined;
  if (isFailed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
