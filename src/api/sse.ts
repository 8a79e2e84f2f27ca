/** The only writer of server-sent events: frames, pings, back pressure, and noticing that the client went away. */
import type { ServerResponse } from "node:http";

export interface EventStream {
  /**
   * Sends one event. Resolves at once while the client keeps up, else when it has read what waits. False once the stream is closed.
   * `id` becomes the event's `id:` line.
   */
  send(data: string, id?: string): Promise<boolean>;
  /** Sends a comment, which clients pass over. */
  comment(text: string): void;
  /** Ends the stream as a whole answer. */
  end(): void;
  /** Aborted when the client goes away; not by {@link EventStream.end}. */
  readonly closed: AbortSignal;
}

interface EventStreamOptions {
  /** Between two comments that keep the connection alive. */
  readonly pingMs: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Writes the head of `res` at once. `data` of events must be one line or more without carriage returns. */
export function openEventStream(
  res: ServerResponse,
  { pingMs, headers = {} }: EventStreamOptions,
): EventStream {
  const gone = new AbortController();
  let isEnded = false;
  let isCorked = false;
  /** What is sent before the event loop goes on leaves in one packet, and nothing waits for longer. */
  const gather = (): void => {
    if (isCorked) return;
    isCorked = true;
    res.cork();
    process.nextTick(release);
  };
  const { socket } = res;
  /** Without the socket held too, Node would send the length, the text and the end of a chunk in packets of their own. */
  const inOnePacket = (write: () => void): void => {
    socket?.cork();
    write();
    socket?.uncork();
  };
  const release = (): void => {
    if (isCorked) inOnePacket(() => res.uncork());
    isCorked = false;
  };
  gather();
  res.writeHead(200, {
    ...headers,
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache, no-store, no-transform",
    // Proxies of the nginx family would else hold events back.
    "X-Accel-Buffering": "no",
  });
  res.flushHeaders();
  socket?.setNoDelay(true);
  const ping = setInterval(() => {
    if (!res.writableNeedDrain) res.write(": ping\n\n");
  }, pingMs);
  res.once("close", () => {
    clearInterval(ping);
    if (!isEnded) gone.abort();
  });
  res.on("error", () => gone.abort());
  // It left before the head was written: nothing of that would be told again.
  if (res.destroyed) gone.abort();

  return {
    closed: gone.signal,
    async send(data, id) {
      if (isEnded || gone.signal.aborted) return false;
      gather();
      const lines = data.split("\n").map((line) => `data: ${line}\n`);
      const hasRoom = res.write(`${id === undefined ? "" : `id: ${id}\n`}${lines.join("")}\n`);
      if (!hasRoom) await drained(res, gone.signal);
      return !gone.signal.aborted;
    },
    comment(text) {
      if (!isEnded && !gone.signal.aborted) res.write(`: ${text.replaceAll("\n", " ")}\n\n`);
    },
    end() {
      isEnded = true;
      clearInterval(ping);
      inOnePacket(() => {
        // An end would overtake what is still gathered.
        release();
        res.end();
      });
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
