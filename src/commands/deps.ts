/** The parts that commands need of the process they run in. A command names those it uses: `Pick<CommandDeps, "db">`. */
import type { Database, OrganizationKey } from "../db/pool.ts";

export interface CommandDeps {
  readonly db: Database;
  /** Starts what a change has queued without waiting for the next sweep; each returns at once. */
  readonly dispatcher: {
    wake(organization: OrganizationKey): void;
    wakeBatches(organizationId: string): void;
    wakeDeletions(organizationId: string): void;
  };
}
