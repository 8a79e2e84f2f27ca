/** Answers a read at once, or, if it may wait, as soon as the state that it reads has changed. */
import type { Watched } from "../../db/runs/states.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { Deps } from "../deps.ts";
import type { RouteRequest } from "../route.ts";

/** What is waited for, and its state when it was read. */
interface Pending extends Watched {
  readonly state: string;
}

interface Asked {
  readonly deps: Pick<Deps, "events" | "states">;
  readonly principal: Principal;
  readonly request: Pick<RouteRequest, "signal" | "authenticateAgain">;
  /** 0 to 60. */
  readonly waitSeconds: number;
}

/**
 * Reads, and reads again after a change of the state or the end of the time, with the rights that the caller
 * has then. A wait takes one of the seats of event streams.
 * @param pendingOf null if the state has ended, so that nothing is waited for.
 * @throws DomainError as `read` does; `too_many_open`; as authentication does if the caller lost its rights
 * meanwhile.
 */
export async function whenChanged<T>(
  { deps, principal, request, waitSeconds }: Asked,
  read: (principal: Principal) => Promise<T>,
  pendingOf: (found: T) => Pending | null,
): Promise<T> {
  const found = await read(principal);
  const pending = waitSeconds === 0 ? null : pendingOf(found);
  if (pending === null) return found;
  const leave = deps.events.seats.take(principal, "wait");
  try {
    await deps.states.changed(pending, pending.state, {
      timeoutMs: waitSeconds * 1_000,
      signal: request.signal,
    });
  } finally {
    leave();
  }
  return read(await request.authenticateAgain());
}
