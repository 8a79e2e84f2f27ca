/** What every command is given: what it needs of its process, and who asks for the change. */
import type { Database, OrganizationRef, Sql } from "../db/pool.ts";
import type { StorageQuotas } from "../db/tenancy/storage-quotas.ts";
import type { Principal } from "../domain/tenancy/principal.ts";
import type { MasterKey } from "../domain/tenancy/wrapped-keys.ts";
import type { Keyring } from "../storage/keys/keyring.ts";

/** Who asks for a change: the first argument of every command after its dependencies. */
export interface Caller {
  readonly principal: Principal;
  /** The `X-Request-Id` of the request, or an id that the command line made; the audit row has it. */
  readonly requestId: string;
  /**
   * Keeps the answer of a request with an Idempotency-Key in the transaction of its effect, so that a repeat
   * gets the same answer. Commands of routes that take such a key call it last. Undefined if the request has
   * no key.
   * @throws DomainError `overloaded` if another request took the key over meanwhile; the transaction must
   * fail then.
   */
  readonly keepAnswer?: ((sql: Sql, answer: unknown) => Promise<void>) | undefined;
}

/** What commands need of their process. Each names what it uses: `Pick<CommandDeps, "db">`. */
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
