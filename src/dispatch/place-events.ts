/** Gives events their positions soon after their commit, whichever process wrote them. */
import { setTimeout as sleep } from "node:timers/promises";
import { findUnplaced, placeEvents } from "../db/events/place.ts";
import type { Database } from "../db/pool.ts";
import type { Log } from "../process/log.ts";
import { drillPoint } from "../telemetry/drill-point.ts";
import { coalesce } from "./coalesce.ts";

export interface EventPlacer {
  /**
   * Says that the organization has new events. Returns at once; the first call of a burst places at once, and
   * what comes meanwhile is placed together.
   */
  wake(organizationId: string): void;
  /** Places what any process left behind. */
  sweep(): Promise<void>;
  /** Resolves when nothing is being placed. */
  idle(): Promise<void>;
}

interface EventPlacerDeps {
  readonly db: Database;
  readonly log: Pick<Log, "warn">;
  /** Called after events of the organization were placed, and after each sweep that found some. */
  readonly onPlaced: (organizationId: string) => void;
}

/** The pause between two rounds of an organization: a busy one places many events in one transaction. */
const PAUSE_MS = 25;
const ORGANIZATIONS_A_SWEEP = 50;

export function createEventPlacer({ db, log, onPlaced }: EventPlacerDeps): EventPlacer {
  const rounds = coalesce<string>(
    (organizationId) => organizationId,
    async (organizationId) => {
      try {
        await drillPoint("placeEvents: committed, not placed");
        if ((await placeEvents(db, organizationId)) > 0) onPlaced(organizationId);
      } catch (error) {
        log.warn({ err: error, organization_id: organizationId }, "events could not be placed");
      }
      await sleep(PAUSE_MS);
    },
  );
  return {
    wake(organizationId) {
      void rounds.run(organizationId);
    },
    async sweep() {
      const found = await findUnplaced(db, ORGANIZATIONS_A_SWEEP);
      await Promise.all(found.map((organizationId) => rounds.run(organizationId)));
    },
    idle: () => rounds.idle(),
  };
}
