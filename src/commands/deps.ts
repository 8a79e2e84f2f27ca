/** What commands need of the process that they run in. Each names what it uses: `Pick<CommandDeps, "db">`. */
import type { Database, OrganizationRef } from "../db/pool.ts";
import type { StorageQuotas } from "../db/tenancy/storage-quotas.ts";
import type { MasterKey } from "../domain/tenancy/wrapped-keys.ts";
import type { Keyring } from "../storage/keys/keyring.ts";

export interface CommandDeps {
  readonly db: Database;
  /** Starts what a change has queued without waiting for the next sweep; each returns at once. */
  readonly dispatcher: {
    wake(organization: OrganizationRef): void;
    wakeBatches(organizationId: string): void;
    wakeDeletions(organizationId: string): void;
    wakeWebhooks(organizationId: string): void;
  };
  readonly authenticator: {
    /** Makes this process read the user's roles and keys again; other processes do within 5 seconds. */
    forgetUser(userId: string): void;
  };
  readonly config: {
    /** What an organization may store, and how many live keys one user may have. */
    readonly limits: StorageQuotas & { readonly keysPerUser: number };
  };
  /** The model that new versions are embedded with; no chunk may have more tokens than it takes. */
  readonly embedding: { readonly name: string; readonly maxTokens: number };
  /** Unwraps the instance's secrets, such as the one that keys are hashed with. */
  readonly masterKey: MasterKey;
  /** Seals what must be readable again, such as the secrets that sign deliveries. */
  readonly keyring: Pick<Keyring, "current">;
}
