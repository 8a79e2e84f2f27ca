/** Makes spans. Without a tracer the work just runs. Attributes are names, codes, counts, never content. */
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

/**
 * The W3C headers `traceparent` and `tracestate`, which carry a trace from process to process.
 * @see https://www.w3.org/TR/trace-context/
 */
export type TraceHeaders = Readonly<Record<string, string>>;

export interface SpanOptions {
  readonly kind?: "internal" | "client" | "server";
  readonly attributes?: Attributes;
  /** The parent span in another process; absent or empty: the active span is the parent. */
  readonly parent?: TraceHeaders | undefined;
}

const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER } as const;

let tracer: Tracer | undefined;

/** Starts making spans with this tracer; undefined stops it. */
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

/** A span that its caller ends; inside `run` it is the active span. */
export interface OpenSpan {
  run<T>(work: () => T): T;
  set(attributes: Attributes): void;
  rename(name: string): void;
  /** Call it once. Only the code or name of an error is kept, never the message: it may hold content. */
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
  // Only requests begin a trace; traces of what a process does for itself would be noise.
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

/** The active span as headers of a request; empty without one. */
export function traceHeaders(): TraceHeaders {
  const carrier: Record<string, string> = {};
  if (tracer !== undefined) propagation.inject(context.active(), carrier);
  return carrier;
}

/** The active span as a W3C `traceparent`, to be stored with work that is done later; null without one. */
export function traceparent(): string | null {
  return traceHeaders()["traceparent"] ?? null;
}

/** Runs `work` as part of the trace that an earlier request began, if it is not yet; null does nothing. */
export function continueTrace<T>(parent: string | null | undefined, work: () => T): T {
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
  /** The id that its children already name as their parent. */
  readonly spanId: string;
  readonly startedAt: Date;
  readonly attributes: Attributes;
  readonly isFailed: boolean;
}

let givenSpanId: string | undefined;

/** The id for the span that is being made; undefined: a random one. */
export function takeGivenSpanId(): string | undefined {
  const id = givenSpanId;
  givenSpanId = undefined;
  return id;
}

/** Makes the span of something that has just ended. */
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
