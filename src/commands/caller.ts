/** Who asks for a change: the first argument of every command after its dependencies. */
import type { Sql } from "../db/pool.ts";
import type { Principal } from "../domain/tenancy/principal.ts";

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
