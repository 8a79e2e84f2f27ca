/** A server that reads each request as an upload, with what tests of it send and see. */
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { type ClientRequest, type Server, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { ArrivingFile } from "../../../src/api/body/arriving-file.ts";
import { type UploadOptions, receiveUpload } from "../../../src/api/body/uploads.ts";
import { DomainError } from "../../../src/domain/errors.ts";

export interface Sunk {
  readonly bytes: number;
  readonly sha256: string;
  readonly head: string;
}

/** Reads the file to its end. */
export async function sink({ stream, head }: ArrivingFile): Promise<Sunk> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const piece of stream) {
    hash.update(piece as Buffer);
    bytes += (piece as Buffer).byteLength;
  }
  return { bytes, sha256: hash.digest("hex"), head: head.toString("latin1") };
}

interface Answer {
  readonly status: number;
  readonly body: any;
}

export interface UploadServer {
  readonly server: Server;
  readonly origin: string;
  /** How the server reads the next requests. */
  options: UploadOptions<unknown>;
  /** How each request ended: what was received, or the error. */
  outcomes: unknown[];
  /** Forgets the outcomes, and reads files of at most 5 MiB with {@link sink}. */
  reset(): void;
  post(body: string, headers?: Record<string, string>): Promise<Answer>;
  /** Begins a request with boundary `b`. @param declared its Content-Length. Default: none. */
  open(declared?: number): ClientRequest;
  close(): void;
}

const FORM = { "content-type": "multipart/form-data; boundary=b" };

export async function startUploadServer(): Promise<UploadServer> {
  const server = createServer((req, res) => {
    receiveUpload(req, uploads.options).then(
      (received) => {
        uploads.outcomes.push(received);
        res.end(JSON.stringify(received));
      },
      (error: unknown) => {
        uploads.outcomes.push(error);
        res
          .writeHead(error instanceof DomainError ? error.status : 500)
          .end(JSON.stringify({ detail: error instanceof Error ? error.message : "" }));
      },
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const usual = (): UploadOptions<unknown> => ({ maxBytes: 5 * 1024 * 1024, onFile: sink });
  const uploads: UploadServer = {
    server,
    origin,
    options: usual(),
    outcomes: [],
    reset() {
      this.options = usual();
      this.outcomes = [];
    },
    async post(body, headers = FORM) {
      const answer = await fetch(origin, { method: "POST", body, headers });
      return { status: answer.status, body: await answer.json() };
    },
    open(declared) {
      const length = declared === undefined ? {} : { "content-length": declared };
      const req = request(origin, { method: "POST", headers: { ...FORM, ...length } });
      req.on("error", () => {});
      return req;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return uploads;
}

export const textPart = (name: string, value: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

export const filePart = (content: string, filename = 'filename="a.txt"'): string =>
  [
    "--b",
    `Content-Disposition: form-data; name="file"; ${filename}`,
    "Content-Type: text/plain",
    "",
    content,
    "",
  ].join("\r\n");

export const END = "--b--\r\n";

/** A form whose file is made while it is sent. */
export async function* formOf(megabytes: number): AsyncGenerator<Buffer> {
  const block = randomBytes(1024 * 1024);
  yield Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="big.bin"\r\n\r\n');
  for (let index = 0; index < megabytes; index += 1) yield block;
  yield Buffer.from(`\r\n${END}`);
}

export async function send(req: ClientRequest, body: AsyncIterable<Buffer>): Promise<Answer> {
  const answered = once(req, "response");
  Readable.from(body, { objectMode: false }).pipe(req);
  const [answer] = await answered;
  let text = "";
  for await (const piece of answer) text += piece;
  return { status: answer.statusCode, body: JSON.parse(text) };
}
