/**
 * Writes server-sent events: frames, pings, back pressure, and noticing that the client went away.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import type { ServerResponse } from "node:http";

export interface EventStream {
  /**
   * Sends one event. Resolves at once while the client keeps up, else when it has read what was sent before.
   * @param id becomes the event's `id:` line.
   * @param name becomes its `event:` line; without one it is a message.
   * @returns false once the stream is closed.
   */
  send(data: string, id?: string, name?: string): Promise<boolean>;
  /** Makes `id` the last event's, without an event. */
  mark(id: string): void;
  /** Sends a comment, which clients ignore. */
  comment(text: string): void;
  end(): void;
  /** Aborted if the client goes away, not by {@link EventStream.end}. */
  readonly closed: AbortSignal;
}

interface EventStreamOptions {
  /** The time between two comments that keep the connection alive. */
  readonly pingMs: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Writes the head of `res` at once. The `data` of events must not hold carriage returns. */
export function openEventStream(
  res: ServerResponse,
  { pingMs, headers = {} }: EventStreamOptions,
): EventStream {
  const gone = new AbortController();
  let isEnded = false;
  const packets = createPackets(res);
  packets.gather();
  res.writeHead(200, {
    ...headers,
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache, no-store, no-transform",
    // Otherwise proxies of the nginx family buffer events.
    "X-Accel-Buffering": "no",
  });
  res.flushHeaders();
  res.socket?.setNoDelay(true);
  const ping = setInterval(() => {
    if (!res.writableNeedDrain) res.write(": ping\n\n");
  }, pingMs);
  res.once("close", () => {
    clearInterval(ping);
    if (!isEnded) gone.abort();
  });
  res.on("error", () => gone.abort());
  // The client left before the head was written, so that there is no further event for it.
  if (res.destroyed) gone.abort();

  return {
    closed: gone.signal,
    async send(data, id, name) {
      if (isEnded || gone.signal.aborted) return false;
      packets.gather();
      const lines = data.split("\n").map((line) => `data: ${line}\n`);
      const head = `${name === undefined ? "" : `event: ${name}\n`}${id === undefined ? "" : `id: ${id}\n`}`;
      const hasRoom = res.write(`${head}${lines.join("")}\n`);
      if (!hasRoom) await drained(res, gone.signal);
      return !gone.signal.aborted;
    },
    mark(id) {
      if (!isEnded && !gone.signal.aborted && !res.writableNeedDrain) res.write(`id: ${id}\n\n`);
    },
    comment(text) {
      if (!isEnded && !gone.signal.aborted) res.write(`: ${text.replaceAll("\n", " ")}\n\n`);
    },
    end() {
      isEnded = true;
      clearInterval(ping);
      packets.inOne(() => {
        // What is still corked would otherwise come after the end.
        packets.release();
        res.end();
      });
    },
  };
}

interface Packets {
  /** Sends everything that is written before the next tick in one packet. */
  gather(): void;
  /** Sends what has gathered. */
  release(): void;
  /** Sends what `write` writes in one packet. */
  inOne(write: () => void): void;
}

function createPackets(res: ServerResponse): Packets {
  // Kept here, because a response that has ended has no socket any more.
  const { socket } = res;
  let isCorked = false;
  /** Corks the socket too: otherwise Node sends the length, the text and the end of a chunk separately. */
  const inOne = (write: () => void): void => {
    socket?.cork();
    write();
    socket?.uncork();
  };
  const release = (): void => {
    if (isCorked) inOne(() => res.uncork());
    isCorked = false;
  };
  return {
    inOne,
    release,
    gather() {
      if (isCorked) return;
      isCorked = true;
      res.cork();
      process.nextTick(release);
    },
  };
}

async function drained(res: ServerResponse, closed: AbortSignal): Promise<void> {
  if (closed.aborted || !res.writableNeedDrain) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      res.off("drain", done);
      closed.removeEventListener("abort", done);
      resolve();
    };
    res.once("drain", done);
    closed.addEventListener("abort", done, { once: true });
  });
}
