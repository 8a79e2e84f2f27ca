/**
 * A minimal load balancer: round robin over the backends that report ready, or over all if none does, with
 * one retry at another if a backend refuses the connection.
 */
import { once } from "node:events";
import { type IncomingMessage, type Server, type ServerResponse, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

const PROBE_MS = 100;
const PROBE_TIMEOUT_MS = 2_000;

export interface Proxy {
  readonly url: string;
  /** Returns the URLs of the backends that were ready at the last check. */
  ready(): readonly string[];
  close(): void;
}

export async function startProxy(backends: readonly string[]): Promise<Proxy> {
  let ready: readonly string[] = [];
  let turn = 0;
  let isProbing = false;
  const probe = async (): Promise<void> => {
    // Of two looks at the same time the older one could be answered last.
    if (isProbing) return;
    isProbing = true;
    const answers = await Promise.all(
      backends.map((url) =>
        fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) }).then(
          ({ ok }) => ok,
          () => false,
        ),
      ),
    );
    ready = backends.filter((_url, index) => answers[index]);
    isProbing = false;
  };
  const next = (refused?: string): string | undefined => {
    const others = (of: readonly string[]): string[] => of.filter((url) => url !== refused);
    // One that is slow to say so may be ready: balancers pass requests on rather than refuse all of them.
    const candidates = others(ready).length > 0 ? others(ready) : others(backends);
    return candidates[turn++ % candidates.length];
  };
  const probing = setInterval(() => void probe(), PROBE_MS);
  const server: Server = createServer((req, res) => forward(req, res, next));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ready: () => ready,
    close() {
      clearInterval(probing);
      server.closeAllConnections();
      server.close();
    },
  };
}

function forward(
  req: IncomingMessage,
  res: ServerResponse,
  next: (refused?: string) => string | undefined,
  refused?: string,
): void {
  const backend = next(refused);
  if (backend === undefined) {
    res.writeHead(502).end("no backend is ready");
    return;
  }
  const onward = request(
    `${backend}${req.url ?? "/"}`,
    { method: req.method, headers: req.headers },
    (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on("error", () => res.destroy());
      answer.pipe(res);
    },
  );
  onward.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "ECONNREFUSED" && refused === undefined) forward(req, res, next, backend);
    else if (res.headersSent) res.destroy();
    else res.writeHead(502).end(error.message);
  });
  onward.on("socket", (socket) => {
    // Reads the body only after a backend is connected, so that a retry still has all of it.
    if (socket.connecting) socket.once("connect", () => req.pipe(onward));
    else req.pipe(onward);
  });
}
