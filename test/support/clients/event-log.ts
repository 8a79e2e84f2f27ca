/** A log of events behind HTTP, whose connections break as a test wants it. */
import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface EventLog {
  readonly url: string;
  /** Adds so many events; their ids are 1, 2 and so on. */
  append(count: number, padding?: string): void;
  /** Cuts each of the next streams after so many events, in the middle of the next one. */
  cutNext(...afterEvents: number[]): void;
  /** Answers the next requests itself. */
  refuseNext(...refusals: Refusal[]): void;
  /** The requests so far: when, and their path with its query. */
  readonly asked: readonly { readonly at: number; readonly url: string }[];
  readonly openStreams: () => number;
  /** True while a stream waits for its reader. */
  readonly isStalled: () => boolean;
  readonly sent: () => number;
  close(): Promise<void>;
}

interface Refusal {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: unknown;
}

const positionOf = (cursor: string): number => Number(cursor.slice(1));

export async function startEventLog(): Promise<EventLog> {
  const events: { id: number; padding: string }[] = [];
  const asked: { at: number; url: string }[] = [];
  const cuts: number[] = [];
  const refusals: Refusal[] = [];
  const waiting = new Set<() => void>();
  let open = 0;
  let stalled = 0;
  let sent = 0;

  const stream = async (cursor: string, res: ServerResponse): Promise<void> => {
    open += 1;
    res.once("close", () => {
      open -= 1;
      for (const wake of waiting) wake();
    });
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.write(": ping\n\n");
    const cutAfter = cuts.shift();
    let goOn = (): void => undefined;
    res.on("drain", () => goOn()).on("close", () => goOn());
    for (let at = positionOf(cursor); !res.destroyed; at += 1) {
      while (at >= events.length && !res.destroyed)
        await new Promise<void>((resolve) => waiting.add(resolve));
      if (res.destroyed) return;
      const frame = `id: c${at + 1}\ndata: ${JSON.stringify(events[at])}\n\n`;
      if (at - positionOf(cursor) === cutAfter) {
        res.write(frame.slice(0, -10), () => res.destroy());
        return;
      }
      sent += 1;
      if (res.write(frame)) continue;
      stalled += 1;
      await new Promise<void>((resolve) => (goOn = resolve));
      stalled -= 1;
    }
  };
  const list = (query: URLSearchParams, res: ServerResponse): void => {
    const after = query.get("after") ?? "c0";
    const from = after === "now" ? events.length : positionOf(after);
    const items = events.slice(from, from + Number(query.get("limit")));
    const next = from + items.length;
    const page = { items, next_cursor: `c${next}`, has_more: next < events.length };
    if (items.length > 0 || after === "now") res.end(JSON.stringify(page));
    else waiting.add(() => list(query, res));
  };
  const answer = (req: IncomingMessage, res: ServerResponse): void => {
    asked.push({ at: Date.now(), url: req.url ?? "" });
    const refusal = refusals.shift();
    const { pathname, searchParams } = new URL(req.url ?? "", "http://log");
    res.setHeader("content-type", "application/json");
    if (refusal !== undefined)
      res.writeHead(refusal.status, refusal.headers).end(JSON.stringify(refusal.body));
    else if (pathname === "/v1/events/stream") void stream(String(req.headers["last-event-id"]), res);
    else list(searchParams, res);
  };
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    append(count, padding = "") {
      for (let one = 0; one < count; one += 1) events.push({ id: events.length + 1, padding });
      const woken = [...waiting];
      waiting.clear();
      for (const wake of woken) wake();
    },
    cutNext: (...afterEvents) => void cuts.push(...afterEvents),
    refuseNext: (...more) => void refusals.push(...more),
    asked,
    openStreams: () => open,
    isStalled: () => stalled > 0,
    sent: () => sent,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
