/** Turns queued runs and outbox rows into workflows. Leases keep processes from doing it twice. */
import { claimRuns, waitingOrganizations } from "../db/runs/claim.ts";
import { takeExpiredClaims } from "../db/runs/claim-leases.ts";
import { PRIORITY, type Priority } from "../domain/work/processing.ts";
import { drillPoint } from "../telemetry/drill-point.ts";
import { onNotedEvents } from "../db/events/noted.ts";
import { coalesce } from "../process/concurrency/coalesce.ts";
import { createEventPlacer } from "./place-events.ts";
import { startClaim, type StartClaimDeps } from "./start-claims.ts";
import { startBatches, startDeletions, startOperations } from "./start-outbox.ts";
import { createWebhookStarter } from "./start-webhooks.ts";

interface Organization {
  readonly id: string;
  readonly num: number;
}

interface Queue {
  readonly organization: Organization;
  readonly priority: Priority;
}

export interface Dispatcher {
  /**
   * Says that the organization may have queued runs; interactive ones if no priority is given. Returns at
   * once. A call while the organization's runs are being claimed leads to one more claim afterwards.
   */
  wake(organization: Organization, priority?: Priority): void;
  /** Says that the organization has a batch to start, or room for the next one. Returns at once. */
  wakeBatches(organizationId: string): void;
  /** Says that the organization has a deletion to start, or room for the next one. Returns at once. */
  wakeDeletions(organizationId: string): void;
  /** Says that the organization has deliveries to make. Returns at once. */
  wakeWebhooks(organizationId: string): void;
  /** One round over all organizations and all claims with an expired lease, of whatever process. */
  sweep(): Promise<void>;
  /** Resolves when nothing runs that `wake` began. */
  idle(): Promise<void>;
}

/** How many rows one sweep takes of each kind; the next sweep takes more. */
const ORGANIZATIONS_A_SWEEP = 50;
const CLAIMS_A_SWEEP = 50;

/** @see test/drill/run.ts, which kills processes at each point of this */
export function createDispatcher(deps: StartClaimDeps): Dispatcher {
  const { db, log } = deps;
  const queues = coalesce<Queue>(
    ({ organization, priority }) => `${organization.id} ${priority}`,
    (queue) => dispatch(deps, queue),
  );
  const webhooks = createWebhookStarter(deps);
  const events = createEventPlacer({
    db,
    log,
    onDeliveries: (organizationId) => void webhooks.run(organizationId),
  });
  onNotedEvents(db.pools.values(), (organizationId) => events.wake(organizationId));
  return {
    wake(organization, priority = PRIORITY.interactive) {
      void queues.run({ organization, priority });
    },
    wakeBatches(organizationId) {
      startBatches(deps, organizationId).catch((error: unknown) =>
        log.warn({ err: error, organization_id: organizationId }, "batches could not be started"),
      );
    },
    wakeDeletions(organizationId) {
      startDeletions(deps, organizationId).catch((error: unknown) =>
        log.warn({ err: error, organization_id: organizationId }, "deletions could not be started"),
      );
    },
    wakeWebhooks(organizationId) {
      void webhooks.run(organizationId);
    },
    async sweep() {
      await events.sweep();
      void webhooks.run(null);
      const expired = await takeExpiredClaims(db.system, CLAIMS_A_SWEEP);
      await Promise.all(expired.map((claim) => startClaim(deps, claim)));
      await startDeletions(deps, null);
      await startBatches(deps, null);
      await startOperations(deps);
      for (const priority of [PRIORITY.interactive, PRIORITY.batch]) {
        const waiting = await waitingOrganizations(db.system, priority, ORGANIZATIONS_A_SWEEP);
        await Promise.all(waiting.map((organization) => queues.run({ organization, priority })));
      }
    },
    async idle() {
      await queues.idle();
      await events.idle();
      await webhooks.idle();
    },
  };
}

/** Claims and starts until nothing is queued. What fails is logged, and left to a later sweep. */
async function dispatch(deps: StartClaimDeps, { organization, priority }: Queue): Promise<void> {
  try {
    await drillPoint("documentPipeline: accepted, nothing claimed");
    for (;;) {
      const claims = await claimRuns(deps.db.system, organization, priority);
      if (claims.length === 0) return;
      await Promise.all(claims.map((claim) => startClaim(deps, claim)));
    }
  } catch (error) {
    deps.log.warn({ err: error, organization_id: organization.id }, "runs could not be dispatched");
  }
}
