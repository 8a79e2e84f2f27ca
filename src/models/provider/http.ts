/** The only place where a chat's request goes out to its provider: over Node's own HTTP client, on a connection that serves the next one too. */
import { type IncomingMessage, type OutgoingHttpHeaders, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { urlToHttpOptions } from "node:url";
import { APIConnectionError, APIConnectionTimeoutError, APIError } from "openai";
import { firstText } from "./bounded-body.ts";

/** What still comes of a stream behind its last event is waited for this long, so that its connection stays whole. */
const TAIL_MS = 1_000;
/** Of an error: its code is all that is read of it. */
const MAX_REFUSAL_BYTES = 65_536;

/**
 * Sends JSON and resolves with the answer's text, in the pieces in which it comes; who leaves them early lets the rest of the answer
 * come and leaves the connection to the next request. Half the time of `fetch`, since no piece passes web streams; only redirects are
 * left to it.
 * @throws APIError of an answer that is no success, APIConnectionError where none begins; the reason of `signal` once it is aborted.
 */
export type PostForPieces = (
  body: string,
  headers: OutgoingHttpHeaders,
  signal: AbortSignal,
) => Promise<AsyncGenerator<string>>;

export function postsTo(url: URL): PostForPieces {
  const options = urlToHttpOptions(url);
  const request = url.protocol === "https:" ? requestSecure : requestPlain;

  /** Rejects as the signal says, and where no answer begins. */
  const send = (body: string, headers: OutgoingHttpHeaders, signal: AbortSignal): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const sent = request(
        {
          ...options,
          method: "POST",
          headers: {
            ...headers,
            "accept-encoding": "identity",
            "content-type": "application/json",
            "content-length": Buffer.byteLength(body),
          },
        },
        resolve,
      );
      const abort = (): void => {
        reject(signal.reason);
        sent.destroy();
      };
      signal.addEventListener("abort", abort, { once: true });
      sent
        .on("error", (error) => reject(asConnectionError(error)))
        .once("close", () => signal.removeEventListener("abort", abort));
      if (signal.aborted) abort();
      sent.end(body);
    });

  return async (body, headers, signal) => {
    const incoming = await send(body, headers, signal);
    const status = incoming.statusCode ?? 0;
    if (status >= 200 && status < 300) return piecesOf(incoming);
    if (status < 300 || status >= 400)
      throw refusal(status, await firstText(incoming, MAX_REFUSAL_BYTES), new Headers(pairsOf(incoming)));
    incoming.destroy();
    return follow(url, body, { headers: headers as Record<string, string>, signal });
  };
}

async function follow(
  url: URL,
  body: string,
  { headers, signal }: { headers: Record<string, string>; signal: AbortSignal },
): Promise<AsyncGenerator<string>> {
  const response = await fetch(url, {
    method: "POST",
    body,
    headers: { ...headers, "content-type": "application/json" },
    signal,
  }).catch((error: unknown) => {
    throw asConnectionError(error);
  });
  if (!response.ok || response.body === null)
    throw refusal(
      response.status,
      response.body === null ? "" : await firstText(response.body, MAX_REFUSAL_BYTES),
      response.headers,
    );
  return decoded(response.body);
}

async function* decoded(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const piece of bytes) yield decoder.decode(piece, { stream: true });
}

function pairsOf({ headers }: IncomingMessage): Array<[string, string]> {
  return Object.entries(headers).map(([name, value]) => [name, String(value)]);
}

function refusal(status: number, body: string, headers: Headers): APIError {
  let said: object | undefined;
  try {
    said = JSON.parse(body) as object;
  } catch {
    // Not every proxy answers with JSON; the status says enough.
  }
  return APIError.generate(status, said, undefined, headers);
}

function asConnectionError(cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause;
  return /timed? ?out/i.test(`${cause.message} ${String(cause.cause)}`)
    ? new APIConnectionTimeoutError()
    : new APIConnectionError({ cause });
}

/** Without Node's iterator of a stream, which takes a tenth of the time of a short answer to begin and to end. */
async function* piecesOf(incoming: IncomingMessage): AsyncGenerator<string> {
  let wake = (): void => undefined;
  const notice = (): void => wake();
  // Cut behind the last piece that is read, it would tell nobody, and end the process.
  incoming
    .setEncoding("utf8")
    .on("readable", notice)
    .once("end", notice)
    .once("close", notice)
    .on("error", notice);
  try {
    for (;;) {
      const piece = incoming.read() as string | null;
      if (piece !== null) yield piece;
      else if (incoming.errored !== null) throw incoming.errored;
      else if (incoming.readableEnded || incoming.destroyed) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    incoming.off("readable", notice);
    letEnd(incoming);
  }
}

/** Reads what is left, for a while. */
function letEnd(incoming: IncomingMessage): void {
  if (incoming.destroyed || incoming.readableEnded) return;
  const cut = setTimeout(() => incoming.destroy(), TAIL_MS).unref();
  incoming.once("close", () => clearTimeout(cut)).resume();
}
