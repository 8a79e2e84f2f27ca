/** Sends requests to a proxy with a self-signed certificate, each over its own connection. */
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { request as secureRequest } from "node:https";
import { text } from "node:stream/consumers";

const TIMEOUT_MS = 30_000;

export interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer | string;
}

export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends a request and returns its answer as soon as it begins. */
export function open(
  url: string,
  { method = "GET", headers = {}, body }: Sent = {},
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith("https:") ? secureRequest : request;
    // Caddy chooses the site by the name that the handshake asks for.
    const options = {
      method,
      headers,
      agent: false,
      rejectUnauthorized: false,
      servername: "localhost",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    };
    send(url, options, resolve).on("error", reject).end(body);
  });
}

export async function fetchWhole(url: string, sent: Sent = {}): Promise<Received> {
  const answer = await open(url, sent);
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await text(answer) };
}

/** Makes a form with fields and one file, as a browser sends it. */
export async function formOf(
  fields: Record<string, string>,
  file: { readonly name: string; readonly content: Buffer },
): Promise<Sent> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set("file", new Blob([new Uint8Array(file.content)]), file.name);
  const encoded = new Request("http://localhost", { method: "POST", body: form });
  const body = Buffer.from(await encoded.arrayBuffer());
  return {
    method: "POST",
    headers: { "content-type": encoded.headers.get("content-type")!, "content-length": String(body.length) },
    body,
  };
}
