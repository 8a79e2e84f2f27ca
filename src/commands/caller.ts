/** Who asks for a change, as every command is told it. */
import type { Sql } from "../db/pool.ts";
import type { Principal } from "../domain/tenancy/principal.ts";

export interface Caller {
  readonly principal: Principal;
  /** The `X-Request-Id` of the request, or an id that the command line made; it stands in the audit row. */
  readonly requestId: string;
  /**
   * Keeps the answer of a request with an Idempotency-Key, in the transaction of its effect. Commands that can be
   * repeated call it last; without a key there is nothing to keep.
   * @throws DomainError `overloaded` if another request took the key over meanwhile; the transaction must end with it.
   */
  readonly keepAnswer?: ((sql: Sql, answer: unknown) => Promise<void>) | undefined;
}
