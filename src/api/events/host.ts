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
  /** Drops the agents with this id or of the space with it, or, without an id, all: they may have changed. */
  readonly forgetAgents: (id?: string) => void;
}

export function createEventHost(deps: EventHostDeps): EventHost {
  const { db, url, log, streamsPerProcess, forgetAgents } = deps;
  const hub = createEventHub({
    readLast: (organizationIds) => readLastPositions(db, organizationIds),
    listen: ({ onEvents, onConnected }) =>
      listenForEvents({
        url,
        onEvents,
        onAgents: forgetAgents,
        onConnected: () => {
          forgetAgents();
          onConnected();
        },
        onLost: (error) => log.warn({ err: error }, "the event listener's connection was lost"),
      }),
    onFailure: (error) => log.warn({ err: error }, "could not check for new events"),
  });
  return { hub, seats: createEventSeats(streamsPerProcess), read: createEventReader(db) };
}
