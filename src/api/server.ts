/** Serves HTTP with bounds against slow and oversized requests, and ends in order. */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type Koa from "koa";
import { ERROR_REASONS, type ErrorReason } from "../domain/errors.ts";
import { ExpectedFailure } from "../domain/expected-failure.ts";
import { errorBody, errorGuide } from "./errors/error-body.ts";

const MAX_HEADER_BYTES = 32 * 1_024;
const HEADERS_TIMEOUT_MS = 20_000;
/** How often Node checks the time-outs of headers and requests. */
const CHECK_EVERY_MS = 2_000;
/** How long a whole request may take to arrive: uploads are long. */
const REQUEST_TIMEOUT_MS = 60 * 60_000;
/** How long a connection may be silent: longer than any chat turn in one piece. Event streams ping. */
const IDLE_TIMEOUT_MS = 330_000;
/** Above the 60 s at which common load balancers drop idle connections. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** With the drain delay and the flushes, less than the minute after which a process ends itself. */
const CLOSE_GRACE_MS = 20_000;

export interface Listening {
  readonly server: Server;
  /** The port in use; if 0 was asked for, the one that the system chose. */
  readonly port: number;
  /** Takes no more requests, gives running ones `graceMs` to end (default 20 s), then cuts them off. */
  close(graceMs?: number): Promise<void>;
}

interface Bounds {
  readonly host: string;
  readonly port: number;
  /** Where the page of each error code is. Default: on the same server. */
  readonly guide?: string;
  readonly headersTimeoutMs?: number;
  readonly checkEveryMs?: number;
}

/** @throws ExpectedFailure that says why the address cannot be listened on. */
export async function listen(
  app: Koa,
  {
    host,
    port,
    guide = errorGuide(),
    headersTimeoutMs = HEADERS_TIMEOUT_MS,
    checkEveryMs = CHECK_EVERY_MS,
  }: Bounds,
): Promise<Listening> {
  const handle = app.callback();
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: headersTimeoutMs,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: checkEveryMs,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      // Node would answer without a body.
      requireHostHeader: false,
    },
    (req, res) => {
      if (req.headers.host === undefined && req.httpVersion === "1.1")
        refuse({ code: "NO_HOST" }, req.socket, guide);
      else void handle(req, res);
    },
  );
  // Expectations that nobody knows may be passed over; Node would answer 417 without a body.
  server.on("checkExpectation", (req: IncomingMessage, res: ServerResponse) => void handle(req, res));
  server.setTimeout(IDLE_TIMEOUT_MS);
  const connections = new Set<Socket>();
  server.on("connection", (socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => refuse(error, socket as Socket, guide));
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(explain(error, host, port)));
    server.listen({ host, port }, resolve);
  });
  return {
    server,
    port: (server.address() as AddressInfo).port,
    close: (graceMs = CLOSE_GRACE_MS) => close(server, connections, graceMs),
  };
}

function explain(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const address = `${host}:${port}`;
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} is in use on ${host}. Stop the program using it, or set PORT to another port.`,
    EACCES: `Listening on ${address} is not allowed. Set PORT to one above 1023.`,
    EADDRNOTAVAIL: `This machine has no address ${host}. Set HOST to one that it has.`,
    ENOTFOUND: `This machine has no address ${host}. Set HOST to one that it has.`,
  };
  return new ExpectedFailure(reasons[error.code ?? ""] ?? `Cannot listen on ${address}.`, error);
}

const REFUSALS: Record<string, ErrorReason> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
};

/** Answers what is not valid HTTP, which never becomes a request, in the format of other errors. */
function refuse(error: { readonly code?: string | undefined }, socket: Socket, guide: string): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const reason = REFUSALS[error.code ?? ""] ?? "malformed_request";
  const status = ERROR_REASONS[reason];
  const phrase = STATUS_CODES[status]!;
  const body = JSON.stringify(errorBody(reason, phrase, guide));
  const head = [
    `HTTP/1.1 ${status} ${phrase}`,
    "Connection: close",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

async function close(server: Server, connections: ReadonlySet<Socket>, graceMs: number): Promise<void> {
  const dropIdle = (): void => {
    server.closeIdleConnections();
    // Node does not count a connection without any request as idle; clients open such ones in advance.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
  };
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  dropIdle();
  // A connection becomes idle only after its last answer has been sent.
  const sweep = setInterval(dropIdle, 50);
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}
