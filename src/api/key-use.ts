/** Notes the use of a key by a request for which no route looks the key up. */
import type { Context } from "koa";
import { isKeyHeader } from "../auth/authenticate.ts";
import { DomainError } from "../domain/errors.ts";
import type { Principal } from "../domain/tenancy/principal.ts";
import type { Deps } from "./deps.ts";
import type { RateLimit } from "./middleware/rate-limit.ts";

/**
 * @param limit counts refused keys for the address, so that nobody tries keys for free. Undefined: the route
 * counts them.
 * @returns the key's owner, also if the key is refused; undefined for an unknown key, or none.
 * @throws DomainError `rate_limited`, `database_unavailable`, `starved`
 */
export async function noteKeyUse(
  ctx: Context,
  { authenticator, lastUsed }: Pick<Deps, "authenticator" | "lastUsed">,
  limit?: RateLimit,
): Promise<Principal | undefined> {
  const { authorization } = ctx.headers;
  if (!isKeyHeader(authorization)) return undefined;
  let owner: Principal | undefined;
  try {
    const principal = await authenticator.authenticate({
      authorization,
      organizationId: undefined,
      address: ctx.ip,
      onKnown: (known) => {
        owner = known;
      },
    });
    lastUsed.note(principal, { address: ctx.ip, userAgent: ctx.headers["user-agent"] });
  } catch (error) {
    if (!(error instanceof DomainError) || error.passes) throw error;
    if (error.code === "unauthenticated") await limit?.countRefusal(ctx);
  }
  return owner;
}
