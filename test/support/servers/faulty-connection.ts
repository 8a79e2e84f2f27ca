/**
 * An unreliable connection to a store: it passes requests on unchanged, except those that a test lets fail.
 */
import { once } from "node:events";
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
  createServer,
  request,
} from "node:http";
import type { AddressInfo } from "node:net";

type Fault =
  /** Answers itself; the store never receives the request. */
  | { readonly status: number; readonly headers?: OutgoingHttpHeaders; readonly body?: string }
  /** Cuts the connection after this many bytes of the request's body. */
  | { readonly cutRequestAfterBytes: number }
  /** The store does what it is asked, but its answer is lost. */
  | "lose the answer"
  /** Changes a byte of the request's body. */
  | "damage"
  /** Cuts the answer after this many bytes, or stops sending without closing. */
  | { readonly cutAfterBytes: number }
  | { readonly silentAfterBytes: number };

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

export interface FaultyConnection {
  /** The origin, without a path. */
  readonly origin: string;
  /**
   * Applies the fault to the first `times` requests that match.
   * @returns a function that counts the matching requests since.
   */
  failFirst(times: number, fault: Fault, matches: (asked: Asked) => boolean): () => number;
  /** Passes every request on again. */
  heal(): void;
  close(): Promise<void>;
}

/** Listens on a free port, or on `port`. */
export async function startFaultyConnection(target: string, port = 0): Promise<FaultyConnection> {
  let faultOf: (asked: Asked) => Fault | undefined = () => undefined;
  const server: Server = createServer((req, res) =>
    passOn(target, req, res, faultOf({ method: req.method ?? "", url: req.url ?? "", headers: req.headers })),
  );
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    failFirst(times, fault, matches) {
      let seen = 0;
      faultOf = (asked) => {
        if (!matches(asked)) return undefined;
        seen += 1;
        return seen <= times ? fault : undefined;
      };
      return () => seen;
    },
    heal() {
      faultOf = () => undefined;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function passOn(target: string, req: IncomingMessage, res: ServerResponse, fault: Fault | undefined): void {
  if (typeof fault === "object" && "status" in fault) {
    req.resume();
    res.writeHead(fault.status, fault.headers).end(fault.body);
    return;
  }
  // Keeps the header `Host`, which is part of the request's signature.
  const onward = request(`${target}${req.url}`, { method: req.method, headers: req.headers }, (answer) => {
    if (fault === "lose the answer") {
      answer.resume().once("end", () => res.destroy());
      return;
    }
    if (typeof fault === "object" && "silentAfterBytes" in fault && fault.silentAfterBytes === 0) {
      answer.resume();
      return;
    }
    res.writeHead(answer.statusCode ?? 500, answer.headers);
    answerThrough(answer, res, fault);
  });
  onward.on("error", () => res.destroy());
  res.once("close", () => onward.destroy());
  sendThrough(req, onward, fault);
}

function sendThrough(
  req: IncomingMessage,
  onward: ReturnType<typeof request>,
  fault: Fault | undefined,
): void {
  let passed = 0;
  req.on("data", (piece: Buffer) => {
    if (fault === "damage" && passed === 0) piece[0]! ^= 1;
    passed += piece.byteLength;
    if (typeof fault === "object" && "cutRequestAfterBytes" in fault && passed > fault.cutRequestAfterBytes) {
      req.destroy();
      onward.destroy();
      return;
    }
    if (!onward.write(piece)) {
      req.pause();
      onward.once("drain", () => req.resume());
    }
  });
  req.on("end", () => onward.end());
}

function answerThrough(answer: IncomingMessage, res: ServerResponse, fault: Fault | undefined): void {
  if (typeof fault !== "object" || !("cutAfterBytes" in fault || "silentAfterBytes" in fault)) {
    answer.pipe(res);
    return;
  }
  const limit = "cutAfterBytes" in fault ? fault.cutAfterBytes : fault.silentAfterBytes;
  let passed = 0;
  answer.on("data", (piece: Buffer) => {
    if (passed >= limit) return;
    const isEnd = passed + piece.byteLength >= limit;
    res.write(piece.subarray(0, limit - passed), () => {
      if (isEnd && "cutAfterBytes" in fault) res.destroy();
    });
    passed += piece.byteLength;
  });
}
