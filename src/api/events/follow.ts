/** Reads the log for one request: a page, a page that is waited for, or a stream. */
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { EventFilter } from "../../db/events/read.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { Log } from "../../process/log.ts";
import { cursorOf } from "../../queries/events/cursor.ts";
import type { EventPage } from "../../queries/events/read-event-page.ts";
import { Event } from "../../schema/event.ts";
import { eventDelays } from "../../telemetry/instruments.ts";
import { answerError } from "../errors/answer-error.ts";
import { type EventStream, openEventStream } from "../sse.ts";
import type { EventHost } from "./host.ts";
import type { Asker } from "./reader.ts";

export interface Follow {
  readonly asker: Asker;
  readonly principal: Principal;
  readonly filter: EventFilter;
  /** The position to go on from. */
  readonly after: number;
  /** How far the log goes. */
  readonly last: number;
}

export interface FollowedPage extends EventPage {
  /** Whether the log goes on after `next`. */
  readonly hasMore: boolean;
}

const EVENTS_A_READ = 100;
const PING_MS = 15_000;
/** Most losses of rights are events: each stream looks at once. This is for others, as an expired token. */
const RIGHTS_EVERY_MS = 15_000;
const OUTAGE_PAUSE_MS = 1_000;
/** So long may a client take to read what was read for it, before its rights are looked at again. */
const SLOW_CLIENT_MS = 4_000;

interface PageWanted {
  readonly limit: number;
  readonly waitMs: number;
  /** Aborted if the client goes away. */
  readonly signal: AbortSignal;
}

/**
 * Reads a page. If there is nothing that the caller sees, waits for at most `waitMs`.
 * @throws DomainError as {@link EventHost.read} does, and `rate_limited` if the caller waits too often.
 */
export async function followPage(
  { hub, read, seats }: EventHost,
  { asker, principal, filter, after, last }: Follow,
  { limit, waitMs, signal }: PageWanted,
): Promise<FollowedPage> {
  const deadline = performance.now() + waitMs;
  let leave: (() => void) | undefined;
  let position = after;
  let upTo = last;
  try {
    for (;;) {
      const page = await read(asker, { after: position, upTo, filter, limit });
      position = page.next;
      const answer = { ...page, hasMore: position < upTo };
      const leftMs = deadline - performance.now();
      if (page.items.length > 0 || leftMs <= 0 || hub.isDraining || signal.aborted) return answer;
      // Looking through a long log costs more than a request, too.
      leave ??= seats.take(principal, "wait");
      if (answer.hasMore) continue;
      const later = await hub.later(principal.organization.id, position, { timeoutMs: leftMs, signal });
      // Without news the next read finds nothing, but whether the caller may still ask.
      upTo = later ?? position;
    }
  } finally {
    leave?.();
  }
}

interface StreamWanted extends Follow {
  readonly log: Pick<Log, "error">;
  /** Where the page of each error code is. Default: on the same server. */
  readonly guide?: string;
  readonly requestId: string;
}

/** Sends events as they come, until the client leaves, its rights are lost, or the process stops. */
export async function followStream(
  host: EventHost,
  res: ServerResponse,
  wanted: StreamWanted,
): Promise<void> {
  const stream = openEventStream(res, { pingMs: PING_MS });
  const place = { position: wanted.after, last: wanted.last };
  while (!host.hub.isDraining && !stream.closed.aborted) {
    try {
      await step(host, stream, wanted, place);
    } catch (error) {
      if (error instanceof DomainError && error.passes) {
        await sleep(OUTAGE_PAUSE_MS);
        continue;
      }
      await sendEnd(stream, error, wanted.guide);
      if (!(error instanceof DomainError))
        wanted.log.error({ request_id: wanted.requestId, err: error }, "an event stream failed");
      break;
    }
  }
  stream.end();
}

/** Waits for what comes after the place, sends it, and moves the place on. */
async function step(
  { hub, read }: EventHost,
  stream: EventStream,
  { asker, principal, filter }: Follow,
  place: { position: number; last: number },
): Promise<void> {
  const { id, num } = principal.organization;
  const isLive = place.position >= place.last;
  if (isLive) {
    const within = { timeoutMs: RIGHTS_EVERY_MS, signal: stream.closed };
    const last = await hub.later(id, place.position, within);
    if (hub.isDraining || stream.closed.aborted) return;
    place.last = last ?? place.position;
  }
  const { items, next } = await read(asker, {
    after: place.position,
    upTo: place.last,
    filter,
    limit: EVENTS_A_READ,
  });
  const staleAt = performance.now() + SLOW_CLIENT_MS;
  for (const item of items) {
    if (isLive) eventDelays.observe(Math.max(0, Date.now() - item.occurred_at.getTime()) / 1_000);
    if (!(await stream.send(JSON.stringify(Event.parse(item)), cursorOf(num, item.position)))) return;
    place.position = item.position;
    if (performance.now() >= staleAt) return;
  }
  // What the caller does not see counts as seen, so that going on later costs no second look at it.
  if (next > place.position) stream.mark(cursorOf(num, next));
  place.position = next;
}

/** The last event of a stream that ends by an error has the status and the body of its answer. */
async function sendEnd(stream: EventStream, error: unknown, guide: string | undefined): Promise<void> {
  const { status, body } = answerError(error, guide);
  await stream.send(JSON.stringify({ status, ...body }), undefined, "end");
}
