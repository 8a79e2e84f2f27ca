/** The only place where a chat's request goes out to its provider: over Node's own HTTP client, on a connection that serves the next one too. */
import { type IncomingMessage, type RequestOptions, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { text } from "node:stream/consumers";

/** What still comes of a stream behind its last event is waited for this long, so that its connection stays whole. */
const TAIL_MS = 1_000;

/**
 * As `fetch`, for a client that sends text and reads a stream of events: half the time of one, since no piece passes web streams. A good
 * answer's body is its pieces; who leaves them at `[DONE]`, as the OpenAI client does, leaves the connection to the next request, where
 * `fetch` would cut it. Redirects are left to `fetch`.
 */
export async function sendForStream(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  if (url instanceof Request || typeof init.body !== "string") return fetch(url, init);
  const incoming = await send(new URL(url), init.body, init);
  const status = incoming.statusCode ?? 0;
  if (status >= 300 && status < 400) {
    incoming.destroy();
    return fetch(url, init);
  }
  const headers = new Headers(Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]));
  const isGood = status >= 200 && status < 300;
  if (!isGood) return new Response(await text(incoming), { status, headers });
  // The client asks a stream for nothing but this.
  return { ok: true, status, url: String(url), headers, body: piecesOf(incoming) } as unknown as Response;
}

/** Rejects as the request's signal says, and where no answer begins. */
function send(url: URL, body: string, { method = "POST", headers, signal }: RequestInit): Promise<IncomingMessage> {
  const options: RequestOptions = { method, headers: { ...Object.fromEntries(new Headers(headers)), "accept-encoding": "identity", "content-length": Buffer.byteLength(body) } };
  return new Promise((resolve, reject) => {
    const sent = (url.protocol === "https:" ? requestSecure : requestPlain)(url, options, resolve);
    const abort = (): void => {
      reject(signal?.reason);
      sent.destroy();
    };
    signal?.addEventListener("abort", abort, { once: true });
    sent.on("error", reject).once("close", () => signal?.removeEventListener("abort", abort));
    if (signal?.aborted === true) abort();
    sent.end(body);
  });
}

async function* piecesOf(incoming: IncomingMessage): AsyncGenerator<Uint8Array> {
  // Cut behind the last piece that is read, it would tell nobody, and end the process.
  incoming.on("error", () => undefined);
  try {
    for await (const piece of incoming.iterator({ destroyOnReturn: false })) yield piece as Buffer;
  } finally {
    letEnd(incoming);
  }
}

/** Reads what is left, for a while. */
function letEnd(incoming: IncomingMessage): void {
  if (incoming.destroyed || incoming.readableEnded) return;
  const cut = setTimeout(() => incoming.destroy(), TAIL_MS).unref();
  incoming.once("close", () => clearTimeout(cut)).resume();
}
