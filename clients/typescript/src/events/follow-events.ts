/** Follows the log of events over connections that come and go: each event once, and none is left out. */
import type { Client } from "openapi-fetch";
import { type Persistence, backoffMs, persist, wait } from "../requests.ts";
import type { components, paths } from "../schema.ts";
import { readStream } from "./read-stream.ts";

export type HoldfastEvent = components["schemas"]["Event"];
type EventTypes = NonNullable<NonNullable<paths["/v1/events"]["get"]["parameters"]["query"]>["types"]>;

export interface EventsOptions {
  /** A cursor to go on after, or `now` (the default): what happens from the first `next()` on. */
  readonly after?: string;
  /** All types by default. */
  readonly types?: EventTypes;
  readonly spaceId?: string;
  /** Only what happens to this resource. */
  readonly resourceId?: string;
  /** Ends the iteration: what waits for an event throws the signal's reason. */
  readonly signal?: AbortSignal;
  /** `poll` asks again and again, for networks in which streams do not get through; else `stream`. */
  readonly transport?: "stream" | "poll";
}

export interface ReceivedEvent {
  readonly event: HoldfastEvent;
  /**
   * Going on after it gives what comes after this event. With `poll` it may give some events before it once
   * more: their ids are the same.
   */
  readonly cursor: string;
}

/** One long poll, in seconds: below the 30 s after which some proxies cut a silent request. */
const POLL_SECONDS = 25;
const POLL_EVENTS = 100;
const OPENING_MS = 30_000;
const POLLING_MS = 60_000;
/** A stream that lasted so long was not refused: its end is no reason to wait longer for the next one. */
const STEADY_MS = 10_000;

export interface Following {
  /** How often the first request is repeated if nothing answers; connections after it are always repeated. */
  readonly maxRetries: number;
  /** Statuses after which it does not try again, though it could. */
  readonly throws?: readonly number[];
}

/** The cursor of the end of the log. */
export async function endOfLog(
  api: Client<paths>,
  { signal, maxRetries }: Pick<Persistence, "signal" | "maxRetries">,
): Promise<string> {
  const { next_cursor } = await persist(
    (ended) => api.GET("/v1/events", { params: { query: { after: "now", limit: 1 } }, signal: ended }),
    { signal, maxRetries, countsSilenceOnly: true, timeoutMs: POLLING_MS },
  );
  return next_cursor;
}

export async function* followEvents(
  api: Client<paths>,
  options: EventsOptions,
  following: Following,
): AsyncGenerator<ReceivedEvent, void, undefined> {
  const { after = "now", signal, transport = "stream" } = options;
  // Without a cursor of its own a stream that breaks before its first event could not be gone on with.
  const cursor = after === "now" ? await endOfLog(api, { signal, ...following }) : after;
  yield* transport === "poll" ? poll(api, cursor, options) : stream(api, cursor, options, following);
}

async function* stream(
  api: Client<paths>,
  after: string,
  options: EventsOptions,
  { maxRetries, throws = [] }: Following,
): AsyncGenerator<ReceivedEvent, void, undefined> {
  const { signal } = options;
  let cursor = after;
  let retries: number | undefined = maxRetries;
  for (let failures = 0; ; failures += 1) {
    const body = await openStream(api, cursor, options, { throws, maxRetries: retries });
    retries = undefined;
    const openedAt = Date.now();
    for await (const { id, data } of readStream(body, { signal })) {
      // The last frame of a stream that lost its right has no id: the next request gets its error as an
      // answer.
      if (id === undefined) continue;
      cursor = id;
      failures = 0;
      if (data !== undefined) yield { event: JSON.parse(data) as HoldfastEvent, cursor };
    }
    if (Date.now() - openedAt > STEADY_MS) failures = 0;
    await wait(backoffMs(failures), signal);
  }
}

async function openStream(
  api: Client<paths>,
  cursor: string,
  options: EventsOptions,
  persistence: Pick<Persistence, "throws" | "maxRetries">,
): Promise<ReadableStream<Uint8Array>> {
  const body = await persist(
    (ended) =>
      api.GET("/v1/events/stream", {
        params: { query: filterOf(options), header: { "Last-Event-ID": cursor } },
        parseAs: "stream",
        signal: ended,
      }),
    { ...persistence, signal: options.signal, countsSilenceOnly: true, timeoutMs: OPENING_MS },
  );
  return body as ReadableStream<Uint8Array>;
}

async function* poll(
  api: Client<paths>,
  after: string,
  options: EventsOptions,
): AsyncGenerator<ReceivedEvent, void, undefined> {
  const { signal } = options;
  let cursor = after;
  let empties = 0;
  for (;;) {
    const askedAt = Date.now();
    const query = { ...filterOf(options), after: cursor, wait: POLL_SECONDS, limit: POLL_EVENTS };
    const { items, next_cursor, has_more } = await persist(
      (ended) => api.GET("/v1/events", { params: { query }, signal: ended }),
      { signal, timeoutMs: POLLING_MS },
    );
    const last = items.length - 1;
    for (const [index, event] of items.entries())
      yield { event, cursor: index === last ? next_cursor : cursor };
    cursor = next_cursor;
    // A process that stops answers at once and with nothing; it is not asked again and again.
    const isEarly = items.length === 0 && !has_more && Date.now() - askedAt < 1_000;
    empties = isEarly ? empties + 1 : 0;
    if (isEarly) await wait(backoffMs(empties - 1), signal);
  }
}

function filterOf({ types, spaceId, resourceId }: EventsOptions): {
  types?: EventTypes;
  space_id?: string;
  resource_id?: string;
} {
  return {
    ...(types === undefined ? {} : { types }),
    ...(spaceId === undefined ? {} : { space_id: spaceId }),
    ...(resourceId === undefined ? {} : { resource_id: resourceId }),
  };
}
