/** Gives events their positions soon after their commit, whichever process wrote them. */
import { setTimeout as sleep } from "node:timers/promises";
import { findUnplaced, placeEvents } from "../db/events/place.ts";
import type { Database } from "../db/pool.ts";
import type { Log } from "../process/log.ts";
import { drillPoint } from "../telemetry/drill-point.ts";
import { coalesce } from "../process/concurrency/coalesce.ts";

export interface EventPlacer {
  /** Says that the organization has new events; returns at once. A burst is placed together. */
  wake(organizationId: string): void;
  /** Places what any process left behind. */
  sweep(): Promise<void>;
  /** Resolves when nothing is being placed. */
  idle(): Promise<void>;
}

interface EventPlacerDeps {
  readonly db: Database;
  readonly log: Pick<Log, "warn">;
  /** Called after events were placed in an organization that has webhooks. */
  readonly onDeliveries: (organizationId: string) => void;
}

/** The pause between two rounds of an organization: a busy one places many events in one transaction. */
const PAUSE_MS = 50;
const ORGANIZATIONS_A_SWEEP = 50;

export function createEventPlacer({ db, log, onDeliveries }: EventPlacerDeps): EventPlacer {
  const place = async (organizationId: string): Promise<void> => {
    try {
      await drillPoint("placeEvents: committed, not placed");
      if (await placeEvents(db, organizationId)) onDeliveries(organizationId);
    } catch (error) {
      log.warn({ err: error, organization_id: organizationId }, "events could not be placed");
    }
  };
  const rounds = coalesce<string>(
    (organizationId) => organizationId,
    async (organizationId) => {
      await place(organizationId);
      await sleep(PAUSE_MS);
    },
  );
  return {
    wake(organizationId) {
      void rounds.run(organizationId);
    },
    async sweep() {
      const found = await findUnplaced(db, ORGANIZATIONS_A_SWEEP);
      // No rounds: those of an organization that goes on writing have no end, and a sweep must have one.
      await Promise.all(found.map(place));
    },
    idle: () => rounds.idle(),
  };
}
