/** Puts together what an API process needs to let callers follow events. */
import { listenForEvents } from "../../db/events/listen.ts";
import { readLastPositions } from "../../db/events/read.ts";
import type { Database } from "../../db/pool.ts";
import type { Log } from "../../process/log.ts";
import { createEventHub, type EventHub } from "./hub.ts";
import { createEventReader, type ReadEvents } from "./reader.ts";
import { createEventSeats, type EventSeats } from "./seats.ts";

export interface EventHost {
  readonly hub: EventHub;
  readonly seats: EventSeats;
  readonly read: ReadEvents;
}

interface EventHostDeps {
  readonly db: Database;
  /** The application's login, for a connection that listens. */
  readonly url: string;
  readonly log: Pick<Log, "warn">;
  readonly streamsPerProcess: number;
}

export function createEventHost({ db, url, log, streamsPerProcess }: EventHostDeps): EventHost {
  const hub = createEventHub({
    readLast: (organizationIds) => readLastPositions(db, organizationIds),
    listen: (heard) =>
      listenForEvents({
        url,
        ...heard,
        onLost: (error) => log.warn({ err: error }, "the connection that listens for events was lost"),
      }),
    onFailure: (error) => log.warn({ err: error }, "new events could not be looked for"),
  });
  return { hub, seats: createEventSeats(streamsPerProcess), read: createEventReader(db) };
}
