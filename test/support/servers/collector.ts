/** Collects the spans that processes under test send over OTLP/HTTP. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface CollectedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isFailed: boolean;
}

export interface Collector {
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** Returns everything that was sent, unparsed. */
  text(): string;
  close(): Promise<void>;
}

type Json = Record<string, any>;

const milliseconds = (nanoseconds: string): number => Number(BigInt(nanoseconds) / 1_000n) / 1_000;

function spansOf(body: Json): CollectedSpan[] {
  const valueOf = (value: Json): unknown => Object.values(value)[0];
  const record = (list: Json[]): Record<string, unknown> =>
    Object.fromEntries(list.map(({ key, value }) => [key, valueOf(value)]));
  return body["resourceSpans"].flatMap(({ resource, scopeSpans }: Json) => {
    const service = String(record(resource.attributes)["service.name"]);
    return scopeSpans.flatMap(({ spans }: Json) =>
      spans.map((span: Json) => ({
        service,
        traceId: span["traceId"],
        spanId: span["spanId"],
        parentSpanId: span["parentSpanId"] ?? "",
        name: span["name"],
        startMs: milliseconds(span["startTimeUnixNano"]),
        endMs: milliseconds(span["endTimeUnixNano"]),
        attributes: record(span["attributes"]),
        isFailed: span["status"]?.code === 2,
      })),
    );
  });
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  let text = "";
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      text += body;
      spans.push(...spansOf(JSON.parse(body) as Json));
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    text: () => text,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
