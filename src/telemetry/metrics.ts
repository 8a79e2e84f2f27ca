/** The only place that serves metrics: what the instruments hold and what is read anew, behind an HTTP server of its own. */
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
  /** Reads the value anew for each scrape. What throws is left out of the scrape, and told to `onError`. */
  readonly read: () => Promise<readonly Sample[]> | readonly Sample[];
}

export interface Metrics {
  gauge(options: GaugeOptions): void;
  /** @throws Error where the port cannot be listened on. */
  serve(port: number, host: string): Promise<ServedMetrics>;
}

export interface ServedMetrics {
  readonly port: number;
  close(): Promise<void>;
}

/** A page of metrics that somebody else makes; empty where it cannot be had. */
type Page = () => Promise<string>;

/** Once a process. `beside` is put behind the process's own page, which tells of CPU, memory and event loop too. */
export function createMetrics(onError: (error: unknown) => void, beside: Page): Metrics {
  collectDefaultMetrics();
  const page: Page = async () => `${await registry.metrics()}${await beside()}`;
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
