/** Passes requests on to an API and ends its event streams, for clients that read every answer to its end. */
import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

const STREAM_MS = 150;
const STREAM = /^\/v1\/events\/stream\/?(?:\?|$)/;

export interface StreamEndingProxy {
  readonly url: string;
  /** Answers so far, by status. */
  readonly statuses: ReadonlyMap<number, number>;
  close(): void;
}

export async function startStreamEndingProxy(target: string): Promise<StreamEndingProxy> {
  const statuses = new Map<number, number>();
  const server = createServer({ maxHeaderSize: 1024 * 1024 }, (req, res) => {
    pass(target, req, res, (status) => statuses.set(status, (statuses.get(status) ?? 0) + 1));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    statuses,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function pass(
  target: string,
  req: IncomingMessage,
  res: ServerResponse,
  note: (status: number) => void,
): void {
  const path = req.url ?? "/";
  const { hostname, port } = new URL(target);
  // The path as it was sent: parsing it would resolve its dots.
  const passed = request({ hostname, port, path, method: req.method, headers: req.headers });
  passed.on("response", (answer) => {
    note(answer.statusCode ?? 0);
    res.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.on("error", () => res.end());
    answer.pipe(res);
    const isStream = answer.headers["content-type"]?.startsWith("text/event-stream") === true;
    if (STREAM.test(path) && isStream)
      setTimeout(() => {
        res.end();
        passed.destroy();
      }, STREAM_MS);
  });
  passed.on("error", () => res.destroy());
  req.pipe(passed);
}
