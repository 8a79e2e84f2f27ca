/** Sends chat requests to a provider by Node's own HTTP client, on connections that are kept. */
import { type IncomingMessage, type OutgoingHttpHeaders, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { urlToHttpOptions } from "node:url";
import { APIConnectionError, APIConnectionTimeoutError, APIError } from "openai";
import { firstText } from "./bounded-body.ts";

/** How long a stream's end is waited for after its last event, so that its connection is used again. */
const TAIL_MS = 1_000;
/** Bytes of an error's body; only its code is used. */
const MAX_REFUSAL_BYTES = 65_536;

/**
 * Sends JSON and resolves with the answer's text in the pieces in which it comes. A reader that leaves early
 * lets the rest of the answer arrive unread, so that the connection serves the next request. This takes half
 * the time of `fetch`, since no piece passes web streams; `fetch` is used only for redirects.
 *
 * @throws APIError for an answer that is no success, APIConnectionError if none begins; the reason of
 *   `signal` after it is aborted.
 * @see docs/decisions/0016-asking-a-chat-provider.md
 */
export type PostForPieces = (
  body: string,
  headers: OutgoingHttpHeaders,
  signal: AbortSignal,
) => Promise<AsyncGenerator<string>>;

export function postsTo(url: URL): PostForPieces {
  const options = urlToHttpOptions(url);
  const request = url.protocol === "https:" ? requestSecure : requestPlain;

  /** Rejects with the reason of an aborted signal, and if no answer begins. */
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
    // A proxy may answer with something other than JSON; the status says enough.
  }
  return APIError.generate(status, said, undefined, headers);
}

function asConnectionError(cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause;
  return /timed? ?out/i.test(`${cause.message} ${String(cause.cause)}`)
    ? new APIConnectionTimeoutError()
    : new APIConnectionError({ cause });
}

/** Reads without Node's async iterator, which needs a tenth of a short answer's time to begin and to end. */
async function* piecesOf(incoming: IncomingMessage): AsyncGenerator<string> {
  let wake = (): void => undefined;
  const notice = (): void => wake();
  // The listener for "error" stays: without one, a connection cut after the last piece would end the process.
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
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    incoming.off("readable", notice);
    letEnd(incoming);
  }
}

/** Reads what is left for {@link TAIL_MS}, then closes the connection. */
function letEnd(incoming: IncomingMessage): void {
  if (incoming.destroyed || incoming.readableEnded) return;
  const cut = setTimeout(() => incoming.destroy(), TAIL_MS).unref();
  incoming.once("close", () => clearTimeout(cut)).resume();
}
