/** A receiver of deliveries on loopback, which keeps what it gets and answers as the test says. */
import { type IncomingHttpHeaders, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The `webhook-id`. */
  readonly id: string;
}

export interface Receiver {
  readonly port: number;
  /** The address as an endpoint names it. */
  readonly url: string;
  readonly received: Received[];
  /** Answers from now on; by default 204. */
  answer(with_: (response: ServerResponse, got: Received) => void): void;
  /** How many connections were made. */
  connections(): number;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let connections = 0;
  let answer: (response: ServerResponse, got: Received) => void = (response) => {
    response.writeHead(204).end();
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const got = {
        path: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(parts).toString("utf8"),
        id: String(request.headers["webhook-id"]),
      };
      received.push(got);
      answer(response, got);
    });
  });
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/hook`,
    received,
    answer(with_) {
      answer = with_;
    },
    connections: () => connections,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
