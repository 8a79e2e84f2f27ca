/** Sends an answer that is a stream, and keeps its request running for a while if the client goes away. */
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { readMcpDemand } from "../../db/mcp/answers.ts";
import { raw, type RawAnswer, stream, type StreamAnswer } from "../response.ts";
import type { McpContext } from "./answer-request.ts";
import type { AnswerStore } from "./kept-answer.ts";

interface Sending {
  readonly answered: Promise<Response>;
  /** Settles when the request was cancelled. */
  readonly cancelled: Promise<void>;
  readonly cancel: () => void;
  /** Called at the end. */
  readonly leave: () => void;
  readonly store: AnswerStore;
}

const WATCH_EVERY_MS = 1_000;
/** A request whose answer nobody reads any more is cancelled after this, as a chat turn is. */
const UNREAD_MAX_SECONDS = 60;

export async function sendAnswer(context: McpContext, sending: Sending): Promise<RawAnswer | StreamAnswer> {
  const { answered, leave, store } = sending;
  const response = await answered.catch((error: unknown) => {
    leave();
    throw error;
  });
  if (response.body === null || response.status !== 200) {
    leave();
    return raw({ contentType: "application/json", body: await response.text(), status: response.status });
  }
  const { body, headers } = response;
  return stream(async (res) => {
    const stop = new AbortController();
    void watch(context, sending, res, stop.signal);
    // The protocol's end of a request that was cancelled is the end of its stream.
    void sending.cancelled.then(() => res.end());
    res.writeHead(200, {
      ...Object.fromEntries(headers),
      "Cache-Control": "no-cache, no-store, no-transform",
    });
    res.flushHeaders();
    try {
      await pump(body, res);
    } finally {
      res.end();
      stop.abort();
      leave();
      await store.end().catch(() => undefined);
    }
  });
}

/** Writes what comes at the pace of the client; once it has left, reads on and drops it. */
async function pump(body: ReadableStream<Uint8Array>, res: ServerResponse): Promise<void> {
  for await (const piece of body) {
    if (res.destroyed) continue;
    if (res.write(piece)) continue;
    await new Promise<void>((resolve) => {
      res.once("drain", resolve).once("close", resolve);
    });
  }
}

/** Looks whether the answer is wanted still: another process may have been told that it is not. */
async function watch(
  { deps, principal }: McpContext,
  { cancel, store }: Sending,
  res: ServerResponse,
  stop: AbortSignal,
): Promise<void> {
  let goneAt: number | undefined;
  res.once("close", () => {
    goneAt = performance.now();
    // Nobody can go on with an answer of which no message has an id.
    if (store.streamId === undefined) cancel();
  });
  while (!stop.aborted) {
    await sleep(WATCH_EVERY_MS, undefined, { signal: stop, ref: false }).catch(() => undefined);
    const { streamId } = store;
    if (stop.aborted || streamId === undefined) continue;
    const key = { organization: principal.organization, streamId };
    const demand = await readMcpDemand(deps.db, key).catch(() => undefined);
    if (demand === undefined || stop.aborted) continue;
    const goneSeconds = goneAt === undefined ? 0 : (performance.now() - goneAt) / 1_000;
    const isUnread = Math.min(goneSeconds, demand.unreadSeconds) > UNREAD_MAX_SECONDS;
    if (!demand.isWanted || isUnread) cancel();
  }
}
