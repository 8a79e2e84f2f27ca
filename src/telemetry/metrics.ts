/** Serves a process's metrics on its own HTTP server: instruments, and gauges read for each scrape. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Gauge, collectDefaultMetrics, register as registry } from "prom-client";

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface GaugeOptions {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** Called for each scrape. If it throws, the gauge is left out and `onError` gets the error. */
  readonly read: () => Promise<readonly Sample[]> | readonly Sample[];
}

export interface Metrics {
  gauge(options: GaugeOptions): void;
  /** @throws Error if the port cannot be listened on. */
  serve(port: number, host: string): Promise<ServedMetrics>;
}

export interface ServedMetrics {
  readonly port: number;
  close(): Promise<void>;
}

/** A page of metrics in the Prometheus text format. */
type Page = () => Promise<string>;

/**
 * Call it once in a process.
 * @param corePage is appended to the process's own page, which also has CPU, memory and event loop; it must
 * not reject.
 */
export function createMetrics(onError: (error: unknown) => void, corePage: Page): Metrics {
  collectDefaultMetrics();
  const page: Page = async () => `${await registry.metrics()}${await corePage()}`;
  return {
    gauge({ name, help, labels, read }) {
      const gauge = new Gauge({
        name,
        help,
        labelNames: [...labels],
        async collect() {
          gauge.reset();
          try {
            for (const sample of await read()) gauge.set(sample.labels, sample.value);
          } catch (error) {
            onError(error);
          }
        },
      });
    },
    async serve(port, host) {
      const server = createServer((request, response) => {
        if (request.url !== "/metrics") {
          response.writeHead(404).end();
          return;
        }
        page().then(
          (text) => response.writeHead(200, { "content-type": registry.contentType }).end(text),
          (error: unknown) => {
            onError(error);
            response.writeHead(500).end();
          },
        );
      });
      await new Promise<void>((resolve, reject) =>
        server.once("error", reject).listen({ port, host }, resolve),
      );
      return { port: (server.address() as AddressInfo).port, close: () => close(server) };
    },
  };
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
