/** What commands need of the process that they run in. Each names what it uses: `Pick<CommandDeps, "db">`. */
import type { Database, OrganizationKey } from "../db/pool.ts";

export interface CommandDeps {
  readonly db: Database;
  /** Starts what a change has queued without waiting for the next sweep; each returns at once. */
  readonly dispatcher: {
    wake(organization: OrganizationKey): void;
    wakeBatches(organizationId: string): void;
    wakeDeletions(organizationId: string): void;
  };
  readonly authenticator: {
    /** Makes this process read the user's roles and keys again; other processes do within 5 seconds. */
    forgetUser(userId: string): void;
  };
}
