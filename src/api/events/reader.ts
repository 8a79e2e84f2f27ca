/** Reads parts of the log for callers: few at once, and once for all who ask for the same. */
import type { EventFilter, LogPart } from "../../db/events/read.ts";
import type { Database } from "../../db/pool.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { shareRunning } from "../../process/concurrency/share-running.ts";
import { createSlots } from "../../process/concurrency/slots.ts";
import { type EventPage, readEventPage } from "../../queries/events/read-event-page.ts";

/** Who asks; a request is one. */
export interface Asker {
  readonly userId: string;
  readonly credentials: string;
  readonly authenticateAgain: () => Promise<Principal>;
}

interface Wanted extends LogPart {
  readonly filter: EventFilter;
  readonly limit: number;
}

/** Looks the caller's rights up, then reads. @throws as authentication and {@link readEventPage}. */
export type ReadEvents = (asker: Asker, wanted: Wanted) => Promise<EventPage>;

/** After an event all the organization's streams read: they must leave connections to others. */
const READS_AT_ONCE = 4;

export function createEventReader(db: Database): ReadEvents {
  const share = shareRunning<EventPage>();
  const slots = createSlots({ atOnce: READS_AT_ONCE, ofOwner: READS_AT_ONCE });
  return (asker, wanted) =>
    share(JSON.stringify([asker.credentials, wanted]), () =>
      slots.run(asker.userId, async () => readEventPage(db, await asker.authenticateAgain(), wanted)),
    );
}
