/** Sends spans to a collector, in batches over OTLP/HTTP, if an endpoint is set. */
import { context, propagation } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { takeGivenSpanId, useTracer } from "./span.ts";

export interface TracingSettings {
  /** The collector's URL without `/v1/traces`; undefined: nothing is traced. */
  readonly otlpEndpoint: string | undefined;
  /** Share of the requests without a trace of their own that begin one, 0 to 1. */
  readonly sampleRatio: number;
}

const FLUSH_MS = 3_000;

/**
 * Begins tracing in this process. While the collector is down its spans are lost and nothing else is. The
 * exporter reads headers for the collector from `OTEL_EXPORTER_OTLP_HEADERS` itself.
 * @returns a function that ends tracing, after at most three seconds for sending what is left.
 */
export function startTracing(
  { otlpEndpoint, sampleRatio }: TracingSettings,
  process: "api" | "worker",
): () => Promise<void> {
  if (otlpEndpoint === undefined) return async () => undefined;
  // The collector may close a kept-alive connection just as a batch is sent, and the batch would be lost.
  const exporter = new OTLPTraceExporter({
    url: `${otlpEndpoint.replace(/\/+$/, "")}/v1/traces`,
    httpAgentOptions: { keepAlive: false },
  });
  const random = new RandomIdGenerator();
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.name": `holdfast-${process}`,
      "service.namespace": "holdfast",
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    idGenerator: {
      generateTraceId: () => random.generateTraceId(),
      generateSpanId: () => takeGivenSpanId() ?? random.generateSpanId(),
    },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: 8_192,
        maxExportBatchSize: 512,
        scheduledDelayMillis: 1_000,
      }),
    ],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  useTracer(provider.getTracer("holdfast"));
  return async () => {
    useTracer(undefined);
    const late = new Promise<void>((resolve) => setTimeout(resolve, FLUSH_MS).unref());
    await Promise.race([provider.shutdown().catch(() => undefined), late]);
  };
}
